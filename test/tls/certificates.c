/* SPDX-License-Identifier: BSD-3-Clause */
/* certificates - see certificates.h. */
#include "certificates.h"

#include <ftw.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../secret.h"

#define MUST(condition) ((condition) ? (void)0 : (fprintf(stderr, "certificates: not so: %s\n", #condition), abort()))

enum { DAY_S = 86400, NAMES_MAX = 4000, LONG_NAMES = 60 };

#define RIGHT_NAMES "DNS:locks.example,IP:127.0.0.1,IP:::1"

struct certificates certificates;

struct recipe {
    const char *subject, *names;
    enum certificate_kind signer;
    int is_authority, begins_day, ends_day;
};

static const struct recipe recipes[CERT_COUNT] = {
    [CERT_AUTHORITY] = {"hilock test authority", NULL, CERT_AUTHORITY, 1, -1, 1},
    [CERT_RIGHT] = {"right", RIGHT_NAMES, CERT_AUTHORITY, 0, -1, 1},
    [CERT_WRONG] = {"wrong", "DNS:evil.example,IP:10.9.9.9", CERT_AUTHORITY, 0, -1, 1},
    [CERT_EXPIRED] = {"expired", RIGHT_NAMES, CERT_AUTHORITY, 0, -2, -1},
    [CERT_TOMORROW] = {"tomorrow", RIGHT_NAMES, CERT_AUTHORITY, 0, 1, 2},
    [CERT_WILD] = {"wild", "DNS:*.locks.example", CERT_AUTHORITY, 0, -1, 1},
    [CERT_HALF_WILD] = {"half wild", "DNS:o*.locks.example", CERT_AUTHORITY, 0, -1, 1},
    [CERT_LONG] = {"long", RIGHT_NAMES, CERT_AUTHORITY, 0, -1, 1},
    [CERT_CLIENT] = {"client", NULL, CERT_AUTHORITY, 0, -1, 1},
    [CERT_STRANGER] = {"stranger", NULL, CERT_STRANGER, 1, -1, 1},
    [CERT_STRANGERS] = {"of a stranger", RIGHT_NAMES, CERT_STRANGER, 0, -1, 1},
    [CERT_SELF] = {"self", RIGHT_NAMES, CERT_SELF, 0, -1, 1},
};

static void extend(X509 *x509, X509V3_CTX *context, int what, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, context, what, value);
    MUST(extension && X509_add_ext(x509, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

static void add_names(X509 *x509, X509V3_CTX *context, const struct recipe *recipe, int is_long)
{
    char names[NAMES_MAX];
    size_t used = (size_t)snprintf(names, sizeof names, "%s", recipe->names);
    for (int i = 0; is_long && i < LONG_NAMES; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, ",DNS:another-long-name-%04d.locks.example", i);
    extend(x509, context, NID_subject_alt_name, names);
}

static void make(enum certificate_kind kind)
{
    const struct recipe *recipe = &recipes[kind];
    struct certificate *certificate = &certificates.of[kind];
    const struct certificate *signer = &certificates.of[recipe->signer];
    X509V3_CTX context;
    X509 *x509 = certificate->x509 = X509_new();
    certificate->key = EVP_EC_gen("P-256");
    MUST(x509 && certificate->key && X509_set_version(x509, 2) == 1 && ASN1_INTEGER_set(X509_get_serialNumber(x509), (long)kind + 1) == 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), (long)recipe->begins_day * DAY_S);
    X509_gmtime_adj(X509_getm_notAfter(x509), (long)recipe->ends_day * DAY_S);
    MUST(X509_set_pubkey(x509, certificate->key) == 1);
    MUST(X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC, (const unsigned char *)recipe->subject, -1, -1, 0) == 1);
    MUST(X509_set_issuer_name(x509, X509_get_subject_name(signer->x509)) == 1);
    X509V3_set_ctx(&context, signer->x509, x509, NULL, NULL, 0);
    extend(x509, &context, NID_basic_constraints, recipe->is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (recipe->names)
        add_names(x509, &context, recipe, kind == CERT_LONG);
    MUST(X509_sign(x509, signer->key, EVP_sha256()) > 0);
}

/* What is there of the two, the key first. */
static void save(char ret_path[96], const char *name, EVP_PKEY *key, const char *passphrase, X509 *x509)
{
    const EVP_CIPHER *cipher = passphrase ? EVP_aes_128_cbc() : NULL;
    FILE *file;
    snprintf(ret_path, 96, "%s/%s", certificates.folder, name);
    file = fopen(ret_path, "we");
    MUST(file);
    MUST(!key || PEM_write_PKCS8PrivateKey(file, key, cipher, passphrase, passphrase ? (int)strlen(passphrase) : 0, NULL, NULL) == 1);
    MUST(!x509 || PEM_write_X509(file, x509) == 1);
    MUST(key || x509 || fputs("nothing of the kind\n", file) >= 0);
    MUST(fclose(file) == 0);
}

static void save_all(void)
{
    const struct certificate *client = &certificates.of[CERT_CLIENT];
    X509 *authority = certificates.of[CERT_AUTHORITY].x509;
    char name[64], path[96];
    for (int kind = 0; kind < CERT_COUNT; kind++) {
        struct certificate *certificate = &certificates.of[kind];
        snprintf(name, sizeof name, "cert%d.pem", kind);
        save(certificate->cert_file, name, NULL, NULL, certificate->x509);
        snprintf(name, sizeof name, "key%d.pem", kind);
        save(certificate->key_file, name, certificate->key, NULL, NULL);
    }
    save(certificates.both_file, "both.pem", client->key, NULL, client->x509);
    save(certificates.locked_file, "locked.pem", client->key, TEST_SECRET, NULL);
    save(certificates.nonsense_file, "nonsense.pem", NULL, NULL, NULL);
    snprintf(certificates.trusted_dir, sizeof certificates.trusted_dir, "%s/trusted", certificates.folder);
    MUST(mkdir(certificates.trusted_dir, 0700) == 0);
    snprintf(name, sizeof name, "trusted/%08lx.0", X509_subject_name_hash(authority));
    save(path, name, NULL, NULL, authority);
}

__attribute__((constructor)) static void begin(void)
{
    strcpy(certificates.folder, "/tmp/hilock-tls-XXXXXX");
    MUST(mkdtemp(certificates.folder));
    for (int kind = 0; kind < CERT_COUNT; kind++)
        make((enum certificate_kind)kind);
    save_all();
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

__attribute__((destructor)) static void end(void)
{
    for (int kind = 0; kind < CERT_COUNT; kind++) {
        X509_free(certificates.of[kind].x509);
        EVP_PKEY_free(certificates.of[kind].key);
    }
    nftw(certificates.folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}
