"""Kinds of secrets as logs have them; in each, `SECRET` or a name of a user must not be shown."""

from __future__ import annotations

SECRET = "s3cR3tZ9qLm7Kp2WxT4v"

_S = SECRET
_QUERIES = (
    "token",
    "X-Goog-Signature",
    "X-Amz-Signature",
    "sig",
    "code",
    "auth",
    "jwt",
    "access_key",
    "api-key",
    "key",
    "AWSAccessKeyId",
)
_NAMES = (
    "AWS_SECRET_ACCESS_KEY={}", 'secret_key = "{}"', "secret_key: '{}'", "password: {}", "PGPASSWORD={}", "client.secret={}",
    "db_pwd={}", "ARM_SAS={}", "session={}", "jwt: {}", "api key: {}", "MY_CREDENTIAL={}", "signature={}", "auth_key={}",
    "TF_TOKEN_x={}", "TF_TOKEN_app_example_com: {}", '{{"token":"{}"}}', '{{\\"token\\":\\"{}\\"}}', "passphrase = `{}`",
    "AccountKey={};EndpointSuffix=x", 'password = "two {} words"', "bearer {}", "login me password {}",
)  # fmt: skip
_HEADERS = (
    "X-Api-Key: {}", "Cookie: a=1; b={}; c=2", "Set-Cookie: id={}; Path=/", "Authorization: Negotiate {}", "Authorization: {}",
    "Authorization: Basic {}", "Proxy-Authorization: Basic {}", "X-Vault-Token: {}", "Authorization:[Bearer {}]", "-H 'X-Auth-Token: {}'",
)  # fmt: skip
_OPTIONS = ("--token {}", "--token={}", "-password {}", "--api-key '{}'", "--client-secret {}", "curl -u me:{} x")
_ISSUED = (
    "ghp_",
    "hvs.",
    "npm_",
    "sk-",
    "sk-proj-",
    "ya29.",
    "AIza",
    "pypi-",
    "dckr_pat_",
    "glcbt-",
    "gldt-",
    "glpat-",
    "xapp-1-",
    "",
)
_URLS = (
    "https://user:ab/{}@host.example/x", "https://user:{}@host.example/x", "https://{}@host.example/x", "https://user:a?{}@host.example",
    "https://user:a#{}@host.example", "https://user:a@{}@host.example", "https://user:ab {}@host.example/x",
    "https://host.example/x#{}", "https://host.example/x?a=1 b&c={}", '"https://host.example/x?a= {}"', "user:{}@host.example:443",
    "postgres://me:{}@db/x", "https://hooks.example/services/T0/{}/x",
)  # fmt: skip
_HOMES = (
    r"\\srv\Users\Somebody\x", "~somebody/x", "/home/somebody/x", "/Users/somebody/x", r"C:\Users\Somebody\x", "C:/Users/Somebody/x",
    r"C:\\Users\\Somebody\\x", "/mnt/c/Users/somebody/x", "/c/Users/somebody/x", "file:///home/somebody/x", "/var/home/somebody/x",
    r"C:\Users\John Somebody\x",
)  # fmt: skip
KINDS = (
    *(f"https://host.example/x?{name}={_S}&y=1" for name in _QUERIES),
    *(form.format(_S) for form in (*_NAMES, *_HEADERS, *_OPTIONS, *_URLS)),
    *(f"{prefix}{_S}" for prefix in _ISSUED),
    *_HOMES,
    f"-----BEGIN RSA PRIVATE KEY----- MIIE{_S} {_S} -----END RSA PRIVATE KEY-----",
    f"eyJhbGciOiJIUzI1.eyJzdWIiOi.{_S}",
)
