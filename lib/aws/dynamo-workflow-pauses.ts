/**
 * The pauses of workflows on DynamoDB: `workflow#<name>`/`pause` in the state table.
 *
 * Owns: their key. Does not own: their item (`dynamo-record.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { WorkflowPause } from '../core/holds/workflow-pause.ts';
import type { WorkflowPauses } from '../core/ports.ts';
import { refuse } from '../core/values/errors.ts';
import { isName } from '../core/values/names.ts';
import type { Item } from './dynamo-items.ts';
import { readRecord, writeRecord } from './dynamo-record.ts';
import { TABLE } from './names.ts';

function pauseKey(workflow: string): Item {
  if (!isName(workflow)) throw refuse('bad-key', `'${workflow}' is not a workflow's name`);
  return {
    [TABLE.pk]: { S: `workflow#${workflow}` },
    [TABLE.sk]: { S: 'pause' },
  };
}

export const dynamoWorkflowPauses = (client: DynamoDBClient, table: string): WorkflowPauses => ({
  read: async (workflow) => readRecord<WorkflowPause>(client, table, pauseKey(workflow), 'pause'),
  write: async (pause) => writeRecord(client, table, pauseKey(pause.workflow), 'pause', pause),
});
