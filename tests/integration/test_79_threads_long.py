"""The same with more: everything that a gateway does, and reload after reload."""

import pytest

from test_79_threads import prefix, run_scenario, weir  # noqa: F401

SCENARIOS = [
    "test_12_plain_http", "test_20_names", "test_22_hello", "test_70_churn", "test_70_limits",
    "test_71_clients", "test_72_proxy_protocol", "test_76_admin", "test_77_exhaustion",
    "test_80_audit",
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_clean(weir, prefix, scenario):  # noqa: F811
    run_scenario(weir, prefix, scenario)


@pytest.mark.parametrize("turn", range(20))
def test_reload_after_reload(weir, prefix, turn):  # noqa: F811
    run_scenario(weir, prefix, "test_74_reload", "-k", "under_load or cut or succession")
