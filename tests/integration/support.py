"""llama.cpp's own HTTP server, started by the tests that need it."""

import gc

from yesno.models.download import pull

__all__ = ["KEY", "Running"]

KEY = "a-key-for-this-test"


class Running:
    """A server on a port of its own, and its end."""

    def __init__(self, xllamacpp, places):
        params = xllamacpp.CommonParams()
        params.model.path = str(pull("smollm2"))
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.api_keys = [KEY]
        params.n_parallel = places
        params.n_ctx = 4096 * places
        params.verbosity = -1
        params.warmup = False
        params.cache_prompt = False  # a reused prefix is computed in other batches and rounds differently
        self.server = xllamacpp.Server(params)
        self.address = f"{self.server.listening_address}/v1"

    def stop(self):
        self.server = None
        gc.collect()
