# For the commands of the tutorial: `post KEY PATH JSON` and `get PATH`. They print the body and the status.
post() {
    curl -s -w ' %{http_code}\n' ${TOKEN:+-H "Authorization: Bearer $TOKEN"} -H "Idempotency-Key: $1" --json "$3" \
        "127.0.0.1:${PORT:-8080}$2"
}
get() {
    curl -s -w ' %{http_code}\n' ${TOKEN:+-H "Authorization: Bearer $TOKEN"} "127.0.0.1:${PORT:-8080}$1"
}
