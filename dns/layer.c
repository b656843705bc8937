/* Placeholder until the layer has its first file. */
typedef int dns_layer;
