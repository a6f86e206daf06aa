/**
 * Copies of the policies managed by AWS that are known here; AWS may have widened one since. An unknown
 * policy allows nothing, and a warning names it.
 */
import type { Json } from '../template/json.ts';

const LOGS = ['logs:CreateLogGroup', 'logs:CreateLogStream', 'logs:PutLogEvents'];
const QUEUE = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];
const XRAY = [
  'xray:PutTraceSegments',
  'xray:PutTelemetryRecords',
  'xray:GetSamplingRules',
  'xray:GetSamplingTargets',
  'xray:GetSamplingStatisticSummaries',
];

const allow = (actions: string[]): Json => ({
  Statement: [{ Effect: 'Allow', Action: actions, Resource: '*' }],
});

const KNOWN: Readonly<Record<string, Json>> = {
  'service-role/AWSLambdaBasicExecutionRole': allow(LOGS),
  'service-role/AWSLambdaSQSQueueExecutionRole': allow([...QUEUE, ...LOGS]),
  AWSXRayDaemonWriteAccess: allow(XRAY),
};

/** The document behind `arn:aws:iam::aws:policy/<name>`, if it is known here. */
export const managedPolicy = (arn: string): Json | undefined =>
  KNOWN[arn.replace(/^arn:aws[\w-]*:iam::aws:policy\//, '')];
