/** What the ports on AWS make of conditions, lost answers and refusals. */

import { jest, type Mutant } from '../mutant.ts';

export const PORTS: readonly Mutant[] = [
  {
    id: 'two-claims-commit',
    bug: 'Two writers of the same version both commit, so a join starts twice.',
    file: 'lib/aws/dynamo-put.ts',
    find: "ConditionExpression: '#version = :behind AND #life = :life',",
    replace: "ConditionExpression: '#version >= :behind AND #life = :life',",
    killer: jest('aws/dynamo-store', 'has a condition, and asks for what is there'),
  },
  {
    id: 'own-write-is-conflict',
    bug: 'A failed condition after our own write, sent twice by the SDK, is taken for a lost race.',
    file: 'lib/aws/dynamo-put.ts',
    find: "return isOurs(put, error.Item) ? { kind: 'written' } : ",
    replace: 'return ',
    killer: jest('aws/dynamo-store', 'because our own write is there already'),
  },
  {
    id: 'throttled-is-conflict',
    bug: 'A throttled write is taken for a lost race.',
    file: 'lib/aws/dynamo-put.ts',
    find: '    if (!(error instanceof ConditionalCheckFailedException)) throw error;\n    // The SDK',
    replace:
      "    if (!(error instanceof ConditionalCheckFailedException)) return { kind: 'conflict' };\n    // The SDK",
    killer: jest('aws/dynamo-store', 'is not known, and no conflict'),
  },
  {
    id: 'written-by-an-earlier-life',
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
    id: 'weak-read',
    bug: 'An execution is read weakly, so a decision is made on what was.',
    file: 'lib/aws/dynamo-partition.ts',
    find: '        ConsistentRead: true,\n',
    replace: '        ConsistentRead: false,\n',
    killer: jest('aws/dynamo-store', 'is strong, and follows every page'),
  },
  {
    id: 'value-under-live-record',
    bug: 'A large value goes 35 days after its record was missed once, though the record is there again.',
    file: 'lib/supervisor/audit-values.ts',
    find: "      case 'unmark':\n        await values.remove(verdict.keys);",
    replace: "      case 'unmark':\n        await values.remove([]);",
    killer: jest('supervisor/audit-values', 'begins to count again where a restore brought the record back'),
  },
  {
    id: 'partial-send-ignored',
    bug: 'A batch of which SQS refused a part counts as sent.',
    file: 'lib/aws/sqs-queue.ts',
    find: 'if (refused.has(at)) failed(',
    replace: 'if (refused.size > parcels.length) failed(',
    killer: jest('aws/sends', 'of which a part was refused rejects'),
  },
  {
    id: 'refused-event-counts',
    bug: 'An end that the event bus refused counts as announced.',
    file: 'lib/aws/event-bus.ts',
    find: '(answer.FailedEntryCount ?? 0) > 0',
    replace: 'answer.Entries === undefined && (answer.FailedEntryCount ?? 0) > 1',
    killer: jest('aws/sends', 'that the bus refused rejects'),
  },
  {
    id: 'fraction-out-of-index',
    bug: 'A wake time that is no whole millisecond goes into JSON, and so into no index.',
    rule: 'S12 who is due is in the wake index',
    file: 'lib/aws/dynamo-items.ts',
    find: ' || (Math.abs(value) < Number.MAX_SAFE_INTEGER && Math.abs(value) > 1e-6)',
    replace: '',
    killer: jest('aws/dynamo-items', 'has a wake time with a fraction as its index wants it'),
  },
  {
    id: 'fraction-claimed',
    bug: 'A claim notes the end of its process with the fraction that its host counts.',
    rule: 'an instant is whole',
    file: 'lib/agent/message.ts',
    find: 'Math.ceil(deadline())',
    replace: 'deadline()',
    killer: jest('agent/interrupted', 'a claim notes whole milliseconds'),
  },
  {
    id: 'clock-gains-by-invocations',
    bug: 'A process that stands still between two readings of the clock takes that for a step, again and again.',
    file: 'lib/aws/clock.ts',
    find: 'from: at - elapsed()',
    replace: 'from: at - before',
    killer: jest('aws/clock', 'does not gain by invocations'),
  },
];
