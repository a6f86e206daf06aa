/** A table restored as another one: in which order AWS is asked, and what is waited for. */

import { type Answer, CallError, type Calls } from '../../../cli/aws/calls.ts';
import { removeTable, restoreAs } from '../../../cli/verify/restoring.ts';

const MINUTE_MS = 60_000;

/** As AWS documents its answers: the last five minutes cannot be restored, a new table is active later. */
class Tables {
  now = 1_000_000_000;
  readonly asked: string[] = [];
  /** Nothing while it is never restorable. */
  lagMs: number | undefined = 5 * MINUTE_MS;
  restored: Readonly<Record<string, unknown>> = {};
  /** Before, the new table is not found. */
  foundAt = 0;
  /** How often its backups cannot be turned on yet. */
  refusals = 0;
  #activeAt = Number.POSITIVE_INFINITY;

  readonly clock = {
    now: () => this.now,
    sleep: async (ms: number): Promise<void> => {
      this.now += ms;
    },
  };

  json = async (service: string, operation: string, body: Record<string, unknown>): Promise<Answer> => {
    const of = String(body['TableName'] ?? body['ResourceArn'] ?? body['SourceTableName']);
    if (this.asked.at(-1) !== `${service} ${operation} ${of}`)
      this.asked.push(`${service} ${operation} ${of}`);
    if (operation === 'DescribeContinuousBackups') {
      const LatestRestorableDateTime = this.lagMs === undefined ? undefined : (this.now - this.lagMs) / 1_000;
      return {
        ContinuousBackupsDescription: { PointInTimeRecoveryDescription: { LatestRestorableDateTime } },
      };
    }
    if (operation === 'RestoreTableToPointInTime') {
      this.restored = { ...body, at: this.now };
      this.#activeAt = this.now + 20 * MINUTE_MS;
    }
    if (operation === 'ListTagsOfResource')
      return { Tags: [{ Key: 'aws:cloudformation:stack-name' }, { Key: 'team', Value: 'shop' }] };
    if (operation === 'TagResource') this.restored = { ...this.restored, tags: body['Tags'] };
    if (operation === 'UpdateContinuousBackups' && this.refusals > 0) {
      this.refusals -= 1;
      throw new CallError('dynamodb', 'ContinuousBackupsUnavailableException', 'being enabled', 400);
    }
    if (operation !== 'DescribeTable') return {};
    if (of !== 'State' && this.now < this.foundAt)
      throw new CallError('dynamodb', 'ResourceNotFoundException', 'not found', 400);
    const TableStatus = this.now >= this.#activeAt ? 'ACTIVE' : 'CREATING';
    return { Table: { TableStatus, TableArn: `arn:${of}` } };
  };
}

const restore = (tables: Tables): Promise<void> =>
  restoreAs(tables as unknown as Calls, tables.clock, 'State', 'State-restored');

it('restores what was written until now, sets what a restore leaves out, and copies the tags', async () => {
  const tables = new Tables();
  const { now: askedAt } = tables;
  await restore(tables);
  expect(tables.restored).toMatchObject({
    TargetTableName: 'State-restored',
    UseLatestRestorableTime: true,
    tags: [{ Key: 'team', Value: 'shop' }],
  });
  expect(tables.restored['at']).toBeGreaterThanOrEqual(askedAt + 5 * MINUTE_MS);
  expect(tables.asked).toEqual([
    'dynamodb DescribeContinuousBackups State',
    'dynamodb RestoreTableToPointInTime State',
    'dynamodb DescribeTable State-restored',
    'dynamodb UpdateTimeToLive State-restored',
    'dynamodb UpdateContinuousBackups State-restored',
    'dynamodb DescribeTable State',
    'dynamodb ListTagsOfResource arn:State',
    'dynamodb DescribeTable State-restored',
    'dynamodb TagResource arn:State-restored',
  ]);
});

it('waits for a new table that is not found yet, and for backups that it does not have yet', async () => {
  const tables = new Tables();
  tables.foundAt = tables.now + 10 * MINUTE_MS;
  tables.refusals = 20;
  await restore(tables);
  expect(tables.refusals).toBe(0);
  expect(tables.restored['tags']).toBeDefined();
});

it('gives up a table whose last second never becomes restorable, and restores nothing', async () => {
  const tables = new Tables();
  tables.lagMs = undefined;
  await expect(restore(tables)).rejects.toThrow(
    'the last second of State cannot be restored after 20 minutes',
  );
  expect(tables.restored).toEqual({});
});

it('deletes a table that is still being restored once it is active', async () => {
  const tables = new Tables();
  await tables.json('dynamodb', 'RestoreTableToPointInTime', { SourceTableName: 'State' });
  const { now: restoredAt } = tables;
  await removeTable(tables as unknown as Calls, tables.clock, 'State-restored');
  expect(tables.asked.at(-1)).toBe('dynamodb DeleteTable State-restored');
  expect(tables.now).toBeGreaterThanOrEqual(restoredAt + 20 * MINUTE_MS);
});

it('deletes no table where none was restored: who verifies may not be allowed to', async () => {
  const tables = new Tables();
  tables.foundAt = Number.POSITIVE_INFINITY;
  await removeTable(tables as unknown as Calls, tables.clock, 'State-restored');
  expect(tables.asked).toEqual(['dynamodb DescribeTable State-restored']);
});
