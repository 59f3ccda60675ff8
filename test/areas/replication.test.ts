// One process for the Broker's protocols and bulk transfers: starting one for each file takes longer than its tests.
import '../broker-protocol/client.test.js';
import '../broker-protocol/messages.test.js';
import '../broker-protocol/results.test.js';
import '../broker-protocol/rules.test.js';
import '../broker-protocol/sessions.test.js';
import '../bulk/broker-collector.test.js';
import '../bulk/broker-compare.test.js';
import '../bulk/broker-sender.test.js';
import '../bulk/client.test.js';
import '../bulk/codec-flags.test.js';
import '../bulk/codec.test.js';
