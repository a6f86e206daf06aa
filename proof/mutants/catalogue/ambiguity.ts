/** Writes whose answer is lost, refused, or about another write. */

import { jest, type Mutant, simulation } from '../mutant.ts';

const STORE = 'lib/aws/dynamo-put.ts';
const AGENT = 'lib/agent/message.ts';
const REPORT = 'lib/agent/report.ts';

export const AMBIGUITY: readonly Mutant[] = [
  {
    id: 'own-write-is-conflict',
    from: 15,
    bug: 'A failed condition after our own write, sent twice by the SDK, is taken for a lost race.',
    file: STORE,
    find: "return isOurs(put, error.Item) ? { kind: 'written' } : ",
    replace: 'return ',
    killer: jest('aws/dynamo-store', 'because our own write is there already'),
  },
  {
    id: 'conflict-is-own-write',
    from: 16,
    bug: 'Any failed condition is taken for our own write.',
    file: STORE,
    find: "return isOurs(put, error.Item) ? { kind: 'written' } : ",
    replace: "return error.message !== '' ? { kind: 'written' } : ",
    killer: jest('aws/dynamo-store', "because another's is there is a conflict"),
  },
  {
    id: 'half-own-transaction',
    from: 16,
    bug: 'A transaction counts as ours when one of its records is.',
    file: STORE,
    find: 'const ours = puts.every((put, at) => isOurs(put, reasons[at]?.Item));',
    replace: 'const ours = puts.some((put, at) => isOurs(put, reasons[at]?.Item));',
    killer: jest('aws/dynamo-store', 'refused because one is our own and one is not'),
  },
  {
    id: 'write-id-reused',
    from: 17,
    bug: 'Two writes carry the same write id.',
    file: 'lib/engine/decision-inputs.ts',
    find: '  writeId: ports.random.id(),',
    replace: '  writeId: ports.random.id().slice(0, 4),',
    killer: simulation(),
  },
  {
    id: 'busy-is-conflict',
    from: 18,
    bug: 'Two transactions that met are taken for a failed condition.',
    file: STORE,
    find: "reason.Code === 'ConditionalCheckFailed');",
    replace: "reason.Code === 'ConditionalCheckFailed' || reason.Code === 'TransactionConflict');",
    killer: jest('aws/dynamo-store', 'that met another one is tried again'),
  },
  {
    id: 'throttled-is-conflict',
    from: 19,
    bug: 'A throttled write is taken for a lost race.',
    file: STORE,
    find: '    if (!(error instanceof ConditionalCheckFailedException)) throw error;\n    // The SDK',
    replace:
      "    if (!(error instanceof ConditionalCheckFailedException)) return { kind: 'conflict' };\n    // The SDK",
    killer: jest('aws/dynamo-store', 'because it is throttled is not known'),
  },
  {
    id: 'own-claim-not-recognised',
    from: 15,
    bug: 'A claim whose answer was lost is not recognised by its token, and costs a lease.',
    file: AGENT,
    find: 'if (isLeased(mine) && tokens.has(mine.token)) {',
    replace: 'if (isLeased(mine) && tokens.size > 99) {',
    killer: jest('engine/faults', 'a write whose answer is lost'),
  },
  {
    id: 'own-report-not-recognised',
    from: 15,
    bug: 'After a report whose answer was lost, what follows from it is not done.',
    file: REPORT,
    find: '    return {};\n',
    replace: "    return 'nothing';\n",
    killer: jest('engine/faults', 'a write whose answer is lost'),
  },
];
