/* Why an ssh was refused, told so that ssh prints it: OpenSSH throws the answer of its
 * ProxyCommand's proxy away, but shows what the server says on leaving. Before keys are
 * exchanged a packet is in clear and has no MAC (RFC 4253 6). */
#include "proxy/front.h"
#include "proxy/wording.h"

enum {
    MSG_DISCONNECT = 1,
    HOST_NOT_ALLOWED_TO_CONNECT = 1, /* RFC 4253 11.1 */
    BLOCK = 8,
    PADDING_MIN = 4,
    PACKET_MAX = WORDING_MAX + 64,
};

static size_t put_number(char *out, size_t number)
{
    for (int i = 0; i < 4; i++)
        out[i] = (char)(number >> (24 - 8 * i) & 0xff);
    return 4;
}

static size_t put_string(char *out, struct str s)
{
    put_number(out, s.n);
    if (s.n > 0)
        memcpy(out + 4, s.p, s.n);
    return 4 + s.n;
}

/* Length, length of the padding, payload, padding; all of it a multiple of BLOCK. */
static size_t write_packet(char out[PACKET_MAX], struct str why)
{
    size_t n = 5, padding;

    out[n++] = MSG_DISCONNECT;
    n += put_number(out + n, HOST_NOT_ALLOWED_TO_CONNECT);
    n += put_string(out + n, why);
    n += put_string(out + n, STR("")); /* no language */
    padding = BLOCK - n % BLOCK;
    if (padding < PADDING_MIN)
        padding += BLOCK;
    memset(out + n, 0, padding);
    n += padding;
    put_number(out, n - 4);
    out[4] = (char)padding;
    return n;
}

bool front_ssh_refusal(struct buf *out, struct str why)
{
    const struct str banner = STR("SSH-2.0-Weir\r\n");
    char text[WORDING_MAX + 1], packet[PACKET_MAX];
    size_t n = write_packet(packet, str_from(wording_clean(why, WORDING_UTF8, text)));

    return buf_room(out) >= banner.n + n && buf_add(out, banner) &&
           buf_add(out, (struct str){packet, n});
}
