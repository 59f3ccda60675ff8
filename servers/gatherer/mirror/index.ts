export { namePartsOf } from './file-names.js';
export { Mirror, type MirrorReport } from './mirror.js';
export { MIRROR_DATA } from './mirror-data.js';
export { MirrorIndex } from './mirror-index.js';
