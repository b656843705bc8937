/* Placeholder until the layer has its first file. */
typedef int launcher_layer;
