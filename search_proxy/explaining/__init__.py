"""Why a hit is a hit: the passage that matched, and a short reason made of what matched."""
