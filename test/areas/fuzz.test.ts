// The stored inputs of the fuzz targets.
import '../fuzz/stored.test.js';
