// One process for the architecture and for the chain from documents to answers: starting one for each file
// takes longer than its tests.
import '../architecture/architecture-page.test.js';
import '../architecture/areas.test.js';
import '../architecture/documentation.test.js';
import '../architecture/specifications.test.js';
import '../architecture/errors.test.js';
import '../architecture/file-calls.test.js';
import '../architecture/import-cycles.test.js';
import '../architecture/import-direction.test.js';
import '../architecture/socket-reads.test.js';
import '../architecture/wall-clocks.test.js';
import '../architecture/limits.test.js';
import '../architecture/state-tables.test.js';
import '../servers/all-in-one/chain.test.js';
import '../servers/all-in-one/documents-server.test.js';
import '../servers/all-in-one/files-server.test.js';
import '../servers/all-in-one/publish-so-far.test.js';
import '../servers/all-in-one/trials.test.js';
import '../servers/cli/options/config-option.test.js';
import '../servers/cli/help/completion.test.js';
import '../servers/cli/help/man-page.test.js';
import '../servers/cli/match-output.test.js';
import '../servers/cli/help/suggestions.test.js';
import '../servers/cli/lazy-imports.test.js';
import '../servers/cli/node-version.test.js';
import '../servers/cli/spelling.test.js';
import '../servers/cli/testing/color-report.test.js';
