/* Placeholder until the layer has its first file. */
typedef int tls_layer;
