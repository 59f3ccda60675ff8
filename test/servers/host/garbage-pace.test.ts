// The pace of the garbage collector while many connections are open.
import { execFileSync, spawnSync } from 'node:child_process';
import t from 'tap';
import { GarbagePace } from '../../../servers/host/garbage-pace.js';

t.test('from 64 connections on V8 collects sooner, and with fewer as by default', async (t) => {
  const flags: string[] = [];
  const pace = new GarbagePace((flag) => flags.push(flag));
  for (let i = 0; i < 63; i++) pace.opened();
  t.same(flags, []);
  pace.opened();
  pace.opened();
  t.same(flags, ['--heap-growing-percent=20']);
  pace.closed();
  t.equal(flags.length, 1);
  pace.closed();
  t.same(flags.slice(1), ['--heap-growing-percent=0']);
  for (let i = 0; i < 63; i++) pace.closed();
  t.equal(flags.length, 2);
});

t.test('V8 of this Node has the flag', async (t) => {
  t.match(execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' }), /--heap-growing-percent/);
});

t.test('a Node whose V8 has no such flag says so and goes on', async (t) => {
  const program = "require('node:v8').setFlagsFromString('--not-a-flag=20'); console.log('goes on');";
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  t.match({ status, stdout }, { status: 0, stdout: /goes on/ });
  t.match(stderr, /unrecognized flag/);
});
