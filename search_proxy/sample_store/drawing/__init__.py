"""The shapes in which the sample store's products are drawn, one function for each sort of thing."""
