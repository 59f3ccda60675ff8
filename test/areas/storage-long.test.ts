// The tests of the area that take seconds each; those of `storage` run in every `npm test`.
import '../storage/original-registry/file.test.js';
import '../storage/references/link-tools.test.js';
