"""What the integration tests share: servers to reach, and weir to reach them through.

Everything listens on loopback, or in network namespaces that a test made itself, and
ends with the test. tests/integration/conftest.py offers it as pytest fixtures.
"""
