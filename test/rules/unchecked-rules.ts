// MUSTs that no test, case or vector checks, each with the reason.

/** The reason by the number of the rule. */
export const UNCHECKED: Readonly<Record<string, string>> = {
  'R-6': 'an absence: the server has no code that writes a database',
  'C-27': 'a sum of other checks, which are tested by their own numbers',
  'G-1': 'a sum: each access method has tests of its own',
  'G-5': 'the order of steps, which have numbers of their own, such as G-42, G-91, G-105 and GATHERD-10',
  'G-6': 'an absence: a Gatherer has no timetable of its own',
  'G-7': 'a sum of G-100 to G-108',
  'G-10': 'advice to the operator; both ways are those of G-71 and GATHERD-4',
  'G-118': 'the program is tested by the rules of its protocol, GATHERD-4 and GATHERD-6',
  'G-119': 'tested as GATHERD-8.1',
  'G-120': 'tested as GATHERD-8.1',
  'G-125': 'two spellings of an option; the tests of GATHERD-10.1 use one of them',
  'G-126': 'tested as SOIF-2.2',
  'G-127': 'tested as SOIF-1.2 and SOIF-2.3',
  'G-129': 'tested as SOIF-2.11',
  'E-1': 'a sum of the steps, which are tested by their own numbers',
  'E-3': 'an order, which the rules of its steps imply: E-25, E-28, E-136',
  'E-112': 'the identity of objects is tested as SOIF-6.6',
};
