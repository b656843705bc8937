/* Placeholder until the layer has its first file. */
typedef int policy_layer;
