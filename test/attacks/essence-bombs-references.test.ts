// Bombs of the kind `references`: each ends in bounded time and memory, as a summary (E-45). `BOMB_SEED=N` repeats a run, `BOMB_BUDGET_MS=600000`
// reads all of them.
import t from 'tap';
import { defuse } from '../helpers/bombs/defuse.js';

const seed = Number(process.env.BOMB_SEED ?? Date.now() % 1_000_000);

t.test(`E-45: every bomb of the kind references ends as a summary (seed ${seed})`, (t) =>
  defuse(t, 'references', seed),
);
