// One process for the stores, databases, the Registry file, the link graph: starting one for each file takes
// longer than its tests.
import '../storage/level/log-file.test.js';
import '../storage/level/no-empty-values.test.js';
import '../storage/level/read-write-lock.test.js';
import '../storage/broker/broker-changes.test.js';
import '../storage/broker/broker-store.test.js';
import '../storage/broker/large-objects.test.js';
import '../storage/level/batches.test.js';
import '../storage/generations/export.test.js';
import '../storage/gatherer/gatherer-store.test.js';
import '../storage/gatherer/rename-urls.test.js';
import '../storage/generations/login-seal.test.js';
import '../storage/generations/generations.test.js';
import '../storage/gatherer/link-tables.test.js';
import '../storage/databases/database-file.test.js';
import '../storage/databases/maintenance.test.js';
import '../storage/databases/sources.test.js';
import '../protocols/registry/codec.test.js';
import '../protocols/registry/states.test.js';
import '../clients/references/client.test.js';
import '../storage/references/berkeley-db.test.js';
import '../storage/references/storage.test.js';
import '../storage/holder.test.js';
import '../storage/listed-directory.test.js';
import '../storage/watched-directory.test.js';
import '../storage/make-directory.test.js';
import '../storage/write-fully.test.js';
