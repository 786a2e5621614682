"""Rule sheets and games for programs, by the Model Context Protocol; needs the extra ``mcp``.

Tools are declared in `anygame.tool_server.server`, and answered in processes (`anygame.tool_server.worker`).
"""
