/**
 * The Lambda function of the audit: ports → audit → one run, which continues the pass through table and
 * bucket.
 *
 * Owns: one invocation and its bounds. Does not own: the passes (`supervisor/audit.ts`, `audit-values.ts`).
 */

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { clock } from '../aws/clock.ts';
import { dynamoInventory } from '../aws/dynamo-inventory.ts';
import { metering, once } from '../aws/invocation.ts';
import { ENV } from '../aws/names.ts';
import { dynamoRecords, VALUES_AUDIT } from '../aws/dynamo-side-records.ts';
import { fromEnvironment, portsOf, receiptsOf, retention, telemetryOf } from '../aws/ports.ts';
import { valuesIn } from '../aws/s3-values.ts';
import { CLIENT, transported } from '../aws/transport.ts';
import { defined } from '../core/values/defined.ts';
import { audit, auditAgeMs } from './audit.ts';
import { auditValues } from './audit-values.ts';

/**
 * The most pages of large values in one run, 1,000 objects each: some ten seconds, two million objects a day.
 */
const VALUE_PAGES = 20;
/** The share of a run's time in which new pages are begun; the rest is for those under way. */
const AUDIT_SHARE = 0.9;

/** The Lambda function of the audit: one run does a piece of the pass through the table. */
export function auditHandler(): (event: unknown, context: Context) => Promise<{ scanned: number }> {
  const telemetry = telemetryOf({ role: 'audit' });
  const ports = once(() => {
    const own = portsOf(telemetry);
    const { name, shards } = own.table;
    const client = transported(new DynamoDBClient(CLIENT));
    const inventory = dynamoInventory(client, { table: name, wakeShards: shards });
    const values = valuesIn(process.env, client);
    const valuesAudit = dynamoRecords(client, name, VALUES_AUDIT);
    return { ...own, receipts: receiptsOf(own), inventory, ...defined({ values }), valuesAudit };
  });
  return (_event, context) =>
    metering(telemetry, context, async () => {
      const untilAt = clock.now() + context.getRemainingTimeInMillis() * AUDIT_SHARE;
      const { receipt, removed } = await audit(ports(), {
        untilAt,
        maxPages: Number(fromEnvironment(ENV.auditPages)),
        passEveryMs: Number(fromEnvironment(ENV.auditEveryMs)),
        ...retention(),
      });
      const { pass, segments } = receipt;
      telemetry.logger.info('audited', { ...pass, whole: segments === undefined });
      let ofValues = 0;
      try {
        const values = await auditValues(ports(), { untilAt, maxPages: VALUE_PAGES, ...retention() });
        ofValues = values.removed;
        if (values.listed > 0) telemetry.logger.info('values-audited', { ...values });
      } finally {
        const ageMs = auditAgeMs(receipt, clock.now());
        telemetry.meter.audited({ removed: removed + ofValues, ageMs });
      }
      return { scanned: pass.scanned };
    });
}
