// How the reader types `harvest`, by the way it was started.
import t from 'tap';
import { spellingOf } from '../../../servers/cli/spelling.js';

const HOME = '/home/ada/kit';
const start = (script: string, workingDirectory: string, path = '/usr/bin:/usr/local/bin') =>
  spellingOf({ script, workingDirectory, path, home: HOME });

t.test('the hints use a spelling that works where the reader stands', (t) => {
  t.equal(start(`${HOME}/dist/servers/cli/harvest.js`, HOME), 'npx harvest', 'npm start in the source tree');
  t.equal(
    start(`${HOME}/dist/servers/cli/harvest.js`, `${HOME}/dist`),
    'node servers/cli/harvest.js',
    'a folder below',
  );
  t.equal(
    start(`${HOME}/dist/servers/cli/harvest.js`, '/tmp'),
    `node ${HOME}/dist/servers/cli/harvest.js`,
    'another folder: npx would fetch the package of somebody else',
  );
  t.equal(start('/home/ada/app/node_modules/.bin/harvest', '/home/ada/app'), 'npx harvest', 'a dependency');
  t.equal(start('/home/ada/.npm/_npx/0c/node_modules/.bin/harvest-kit', '/tmp'), 'npx harvest-kit');
  t.equal(start('/usr/local/bin/harvest', '/tmp'), 'harvest', 'installed globally');
  t.equal(start('/opt/bin/harvest', '/tmp'), '/opt/bin/harvest', 'not on the path');
  t.end();
});
