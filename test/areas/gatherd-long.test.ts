// The tests of the area that take seconds each; those of `gatherd` run in every `npm test`.
import '../clients/connection/large-log.test.js';
import '../servers/gatherd/hostile-clients.test.js';
