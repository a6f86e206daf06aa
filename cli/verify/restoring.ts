/**
 * A state table restored as another one, as OPERATIONS.md says.
 *
 * Owns: the calls, and what a restore leaves out. Does not own: that all is at rest meanwhile
 * (`../quiesce/`), which functions use the new table (`throwaway.ts`).
 */

import { TABLE } from '../../lib/aws/names.ts';
import { type Answer, type Calls, unlessGone } from '../aws/calls.ts';
import { CliError, type Clock, EXIT, messageOf } from '../io.ts';

const POLL_EVERY_MS = 15_000;
/** The latest second that can be restored is typically five minutes ago. */
const RESTORABLE_WITHIN_MS = 20 * 60_000;
/** A new table has no backups yet that could be turned on. */
const BACKUPS_WITHIN_MS = 20 * 60_000;
/** Small tables take some twenty minutes. */
const ACTIVE_WITHIN_MS = 2 * 3_600_000;

/**
 * Restores all that was written until now.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableToPointInTime.html
 * @throws CliError `not-restored` where it takes too long
 */
export async function restoreAs(calls: Calls, clock: Clock, table: string, name: string): Promise<void> {
  const ask = (operation: string, body: object): Promise<Answer> => calls.json('dynamodb', operation, body);
  const writtenUntil = clock.now();
  await until(clock, RESTORABLE_WITHIN_MS, `the last second of ${table} cannot be restored`, async () => {
    const { ContinuousBackupsDescription: found } = await ask('DescribeContinuousBackups', {
      TableName: table,
    });
    const { PointInTimeRecoveryDescription: recovery } = Object(found) as Answer;
    return Number((Object(recovery) as Answer)['LatestRestorableDateTime']) * 1_000 >= writtenUntil;
  });
  await ask('RestoreTableToPointInTime', {
    SourceTableName: table,
    TargetTableName: name,
    UseLatestRestorableTime: true,
  });
  await until(clock, ACTIVE_WITHIN_MS, `${name} is not active`, async () => {
    // A new table may not be found at once.
    const { Table } = (await unlessGone(ask('DescribeTable', { TableName: name }))) ?? {};
    return (Object(Table) as Answer)['TableStatus'] === 'ACTIVE';
  });
  await ask('UpdateTimeToLive', {
    TableName: name,
    TimeToLiveSpecification: { Enabled: true, AttributeName: TABLE.ttl },
  });
  await until(clock, BACKUPS_WITHIN_MS, `${name} cannot have backups`, async () => {
    const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
    return ask('UpdateContinuousBackups', { TableName: name, PointInTimeRecoverySpecification }).then(
      () => true,
      (error: unknown) => {
        if (messageOf(error).includes('ContinuousBackupsUnavailable')) return false;
        throw error;
      },
    );
  });
  await copyTags(ask, table, name);
}

/** Tags of AWS's own cannot be set. */
async function copyTags(
  ask: (operation: string, body: object) => Promise<Answer>,
  table: string,
  name: string,
): Promise<void> {
  const arnOf = async (TableName: string): Promise<string> => {
    const { Table } = await ask('DescribeTable', { TableName });
    return String((Object(Table) as Answer)['TableArn']);
  };
  const { Tags } = await ask('ListTagsOfResource', { ResourceArn: await arnOf(table) });
  const own = ((Tags ?? []) as readonly { readonly Key: string }[]).filter(
    ({ Key }) => !Key.startsWith('aws:'),
  );
  await ask('TagResource', { ResourceArn: await arnOf(name), Tags: own });
}

/**
 * Does nothing where there is no such table. One that is being restored cannot be deleted before it is
 * active, and has no tags yet that would show that it is left.
 */
export async function removeTable(calls: Calls, clock: Clock, TableName: string): Promise<void> {
  const ask = (operation: string): Promise<Answer | undefined> =>
    unlessGone(calls.json('dynamodb', operation, { TableName }));
  let isThere = true;
  await until(clock, ACTIVE_WITHIN_MS, `${TableName} cannot be deleted`, async () => {
    const found = await ask('DescribeTable');
    isThere = found !== undefined;
    return found === undefined || (Object(found['Table']) as Answer)['TableStatus'] === 'ACTIVE';
  });
  if (isThere) await ask('DeleteTable');
}

async function until(
  clock: Clock,
  patienceMs: number,
  problem: string,
  isSo: () => Promise<boolean>,
): Promise<void> {
  const lastAt = clock.now() + patienceMs;
  while (!(await isSo())) {
    if (clock.now() >= lastAt)
      throw new CliError('not-restored', `${problem} after ${patienceMs / 60_000} minutes`, EXIT.failed);
    await clock.sleep(POLL_EVERY_MS);
  }
}
