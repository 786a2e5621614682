"""A server of the Model Context Protocol, with tools for rule sheets and games; needs the extra ``mcp``."""
