/* Basic credentials, as Proxy-Authorization carries them (RFC 7617 2, RFC 9110 11.7.2).
 */
#ifndef PROXY_BASIC_LOGIN_H
#define PROXY_BASIC_LOGIN_H

#include "proxy/base/arena.h"
#include "proxy/identity.h"

/* What the value of the field says; views into the arena. Of another scheme, of what is
 * no base64 and of what has no colon, user and password are empty: something was given,
 * and it is good for nothing. */
struct login basic_login_parse(struct str value, struct arena *a);

#endif
