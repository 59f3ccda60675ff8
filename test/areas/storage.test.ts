// One process for the stores, databases, the Registry file, the link graph: starting one for each file takes longer than its tests.
import '../storage/broker-changes.test.js';
import '../storage/broker-store.test.js';
import '../storage/export.test.js';
import '../storage/gatherer-store.test.js';
import '../storage/generations.test.js';
import '../storage/link-tables.test.js';
import '../databases/database-file.test.js';
import '../databases/maintenance.test.js';
import '../databases/sources.test.js';
import '../registry-file/codec.test.js';
import '../registry-file/file.test.js';
import '../references/client.test.js';
import '../references/storage-tools.test.js';
import '../references/storage.test.js';
