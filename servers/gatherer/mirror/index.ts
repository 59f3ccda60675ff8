export { namePartsOf } from './file-names.js';
export { Mirror } from './mirror.js';
export { MirrorIndex } from './mirror-index.js';
