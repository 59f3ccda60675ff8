// gatherd over the objects of a program, without a store on disk: collectors and Brokers get them as from any Gatherer.
//   node own-objects.mjs PORT
import { SoifObject } from 'harvest-kit/protocols/soif';
import { GatherdServer, MemoryDatabase } from 'harvest-kit/servers/gatherd';
import { createLogger } from 'harvest-kit/servers/host';

const source = new MemoryDatabase({ name: 'my catalog' });
source.put(SoifObject.of('BOOK', 'http://books.example.org/emma', [['Title', 'Emma'], ['Author', 'Jane Austen']]));
source.put(SoifObject.of('BOOK', 'http://books.example.org/ivanhoe', [['Title', 'Ivanhoe'], ['Author', 'Walter Scott']]));

const server = await GatherdServer.listen({ source, host: '127.0.0.1', port: Number(process.argv[2] ?? 8500), log: createLogger({ program: 'gatherd' }) });
console.log(`ready ${server.address.port}`);

process.once('SIGTERM', () => void server.close());
