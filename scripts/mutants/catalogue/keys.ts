/** Under which name the outside world knows what a step does. */

import { jest, type Mutant } from '../mutant.ts';

export const KEYS: readonly Mutant[] = [
  {
    id: 'life-left-out',
    from: 'own',
    bug: 'An idempotency key that is used again after its retention has the effect keys of its first execution.',
    file: 'lib/core/effect-key.ts',
    find: "life === '' ? `${id}.${step}` : `${id}.${step}.${life}`;",
    replace: "life === '' ? `${id}.${step}` : `${id}.${step}.life`;",
    killer: jest('roles/lives', 'has its children do their work anew'),
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
];
