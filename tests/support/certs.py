"""A certificate authority for the tests, made with openssl."""

import ipaddress
import re
import ssl
import subprocess


def openssl(*args):
    done = subprocess.run(
        ["openssl", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, f"openssl {args[0]}: {done.stderr}"


class Authority:
    """Makes leaves for names and addresses; `ca` is the path of its certificate."""

    def __init__(self, folder):
        self.folder = folder
        self.ca = str(folder / "ca.pem")
        self.key = str(folder / "ca.key")
        openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-keyout", self.key, "-out", self.ca, "-days", "30",
            "-subj", "/CN=Weir test authority",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign",
        )  # fmt: skip

    def leaf(self, names):
        """Paths of (certificate, key) for the names; made once."""
        stem = self.folder / re.sub(r"[^a-z0-9.-]", "_", "+".join(names))[:100]
        cert, key, request = (f"{stem}.{end}" for end in ("pem", "key", "csr"))
        if not (self.folder / cert).exists():
            extensions = self.folder / f"{stem}.ext"
            extensions.write_text(
                f"subjectAltName={','.join(map(alt_name, names))}\n"
                "extendedKeyUsage=serverAuth\nbasicConstraints=critical,CA:FALSE\n"
            )
            openssl(
                "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", key, "-out", request, "-subj", "/CN=Weir test server",
            )  # fmt: skip
            openssl(
                "x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.key,
                "-CAcreateserial", "-days", "30", "-extfile", str(extensions),
                "-out", cert,
            )  # fmt: skip
        return cert, key

    def server_context(self, names, alpn=("http/1.1",)):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.leaf(names))
        if alpn:
            context.set_alpn_protocols(list(alpn))
        return context

    def client_context(self):
        return ssl.create_default_context(cafile=self.ca)


def alt_name(name):
    try:
        return f"IP:{ipaddress.ip_address(name.strip('[]'))}"
    except ValueError:
        return f"DNS:{name}"
