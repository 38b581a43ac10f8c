"""Language models behind one Protocol: Gemini through its SDK or read directly, and a scripted one."""
