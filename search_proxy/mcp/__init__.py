"""The tools over the Model Context Protocol: Streamable HTTP behind the gateway's door, and stdio."""
