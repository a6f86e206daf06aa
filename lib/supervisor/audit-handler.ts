/**
 * The Lambda function of the audit: ports → audit → one run, a piece of the pass through the table.
 *
 * Owns: one invocation and its bounds. Does not own: the pass (`supervisor/audit.ts`).
 */

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { clock } from '../aws/clock.ts';
import { dynamoInventory } from '../aws/dynamo-inventory.ts';
import { metering, once } from '../aws/invocation.ts';
import { ENV } from '../aws/names.ts';
import { portsOf, receiptsOf, retention, telemetryOf } from '../aws/ports.ts';
import { CLIENT, transported } from '../aws/transport.ts';
import { audit, auditAgeMs } from './audit.ts';

/** Where nothing is said, as in a template of an earlier release. */
const AUDIT_PAGES = 1_000;
/** The share of a run's time in which pages are begun; the rest is for those under way. */
const AUDIT_SHARE = 0.9;

/** The Lambda function of the audit: one run, a piece of the pass through the table. */
export function auditHandler(): (event: unknown, context: Context) => Promise<{ scanned: number }> {
  const telemetry = telemetryOf({ role: 'audit' });
  const ports = once(() => {
    const own = portsOf(telemetry);
    const { name, shards } = own.table;
    const client = transported(new DynamoDBClient(CLIENT));
    const inventory = dynamoInventory(client, { table: name, wakeShards: shards });
    return { ...own, receipts: receiptsOf(own), inventory };
  });
  return (_event, context) =>
    metering(telemetry, context, async () => {
      const { receipt, removed } = await audit(ports(), {
        untilAt: clock.now() + context.getRemainingTimeInMillis() * AUDIT_SHARE,
        maxPages: Number(process.env[ENV.auditPages] ?? AUDIT_PAGES),
        passEveryMs: Number(process.env[ENV.auditEveryMs] ?? 0),
        ...retention(),
      });
      const { pass, segments } = receipt;
      telemetry.meter.audited({ removed, ageMs: auditAgeMs(receipt, clock.now()) });
      telemetry.logger.info('audited', { ...pass, whole: segments === undefined });
      return { scanned: pass.scanned };
    });
}
