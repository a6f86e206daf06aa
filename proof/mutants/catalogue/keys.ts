/** Under which name the outside world knows what a step does. */

import { jest, type Mutant } from '../mutant.ts';

export const KEYS: readonly Mutant[] = [
  {
    id: 'life-left-out',
    from: 'own',
    bug: 'An idempotency key that is used again after its retention has the effect keys of its first execution.',
    file: 'lib/core/step/effect-key.ts',
    find: 'const first = `${id}.${step}.${life}`;',
    replace: 'const first = `${id}.${step}.life`;',
    killer: jest('engine/lives', 'has its children do their work anew'),
  },
  {
    id: 'written-by-an-earlier-life',
    from: 'own',
    bug: 'Whoever knows an earlier life of an execution alone may write the records of the later one.',
    file: 'lib/aws/dynamo-put.ts',
    find: "ConditionExpression: '#version = :behind AND #life = :life',",
    replace: "ConditionExpression: '#version = :behind AND (#life = :life OR #version > :zero)',",
    also: [
      {
        file: 'lib/aws/dynamo-put.ts',
        find: "':life': { S: life } },",
        replace: "':life': { S: life }, ':zero': { N: '0' } },",
      },
    ],
    killer: jest('contract/store', 'is written by nobody who knows the earlier life alone'),
  },
  {
    id: 'key-of-all-stages',
    from: 'own',
    bug: 'All variants of a recovery have one effect key.',
    file: 'lib/core/step/effect-key.ts',
    find: 'const isNext = before.keySpent === true || (before.attempt > 0 && !isSame);',
    replace: 'const isNext = before.keySpent === true || (before.attempt < 0 && !isSame);',
    killer: jest('agent/effect-keys', 'has a key for each variant'),
  },
  {
    id: 'key-after-undo',
    from: 'own',
    bug: 'What was taken back is done again under the same effect key.',
    file: 'lib/core/step/effect-key.ts',
    find: 'const isNext = before.keySpent === true || (',
    replace: 'const isNext = (',
    killer: jest('core/step/effect-key', 'is the next after an undo was claimed'),
  },
  {
    id: 'undo-of-the-next-stage',
    from: 'own',
    bug: 'An undo reads the variant that the recovery has come to, not the one that was attempted.',
    file: 'lib/core/step/ready.ts',
    find: "mode === 'execute' ? variantOf(step, record.stage) :",
    replace: "mode !== 'probe' ? variantOf(step, record.stage) :",
    killer: jest('core/step/effect-key', 'although the recovery has gone on since'),
  },
  {
    id: 'undo-with-the-next-input',
    from: 'own',
    bug: 'An undo is given what a person gave for the next attempt.',
    file: 'lib/core/step/report.ts',
    find: '    givenInput: undefined,\n    changedAt: inputs.now,',
    replace:
      '    ...(record.givenInput === undefined ? {} : { keyInput: record.givenInput }),\n    changedAt: inputs.now,',
    killer: jest('core/step/effect-key', 'not that of what a person gave meanwhile'),
  },
];
