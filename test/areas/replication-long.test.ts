// The tests of the area that take seconds each; those of `replication` run in every `npm test`.
import '../servers/broker/collect/bulk-collector.test.js';
import '../servers/broker/bulk/clock-jumps.test.js';
import '../servers/broker/bulk/repaired-times.test.js';
import '../servers/broker/bulk/compare.test.js';
import '../servers/broker/bulk/sender.test.js';
import '../servers/broker/url-bytes.test.js';
import '../clients/bulk/client.test.js';
