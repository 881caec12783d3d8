"""The server for agents: the tools that it has, and what they answer from the kept runs of a suite."""
