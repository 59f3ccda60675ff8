import { parentPort, workerData } from 'node:worker_threads';
import { Mutex } from '../../protocols/mutex.js';
import { compileEssence } from './context.js';
import { summarizeDocument } from './summarize.js';
import {
  packOutput,
  transferable,
  type WorkerReply,
  type WorkerRequest,
  type WorkerSetup,
} from './worker-messages.js';

// Runs in a worker thread of EssencePool: compiles once, then summarizes one document per message.
const setup: WorkerSetup = workerData;
const context = compileEssence(setup.options, setup.sources);

/** Replies carry no ID, so they are posted in the order of the requests. */
const mutex = new Mutex();

parentPort?.on('message', (request: WorkerRequest) => {
  void mutex.runExclusive(() => answer(request));
});

async function answer({ input }: WorkerRequest): Promise<void> {
  let reply: WorkerReply;
  try {
    reply = { output: packOutput(await summarizeDocument(input, context)) };
  } catch (error) {
    reply = { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  const transferred =
    'output' in reply ? [...transferable(reply.output.soif), ...transferable(reply.output.links)] : [];
  parentPort?.postMessage(reply, transferred);
}

const ready: WorkerReply = { ready: true };
parentPort?.postMessage(ready);
