// One process for the Broker's protocols and bulk transfers: starting one for each file takes longer than its
// tests.
import '../clients/broker/client.test.js';
import '../clients/broker/forgiving.test.js';
import '../clients/broker/link-lines.test.js';
import '../clients/broker/query-terms.test.js';
import '../protocols/broker/messages.test.js';
import '../protocols/broker/results.test.js';
import '../protocols/broker/rules.test.js';
import '../protocols/broker/sessions.test.js';
import '../protocols/broker/states.test.js';
import '../clients/abort.test.js';
import '../clients/arguments.test.js';
import '../protocols/bulk/codec-flags.test.js';
import '../protocols/bulk/digests.test.js';
import '../protocols/bulk/interface-1.test.js';
import '../protocols/bulk/interface-2.test.js';
import '../protocols/bulk/properties.test.js';
