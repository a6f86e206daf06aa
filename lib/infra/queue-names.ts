/**
 * The names of the agents' queues: `<stack>-<hash>_<agent>`.
 *
 * Owns: the prefix that all agents of one deployment share. With it a function can tell every agent's queue
 * from one address and the agents' names, and a role can be allowed all of them in one line. Only agents'
 * queues have it: what is in them are hints, so none outlives its stack and a name is free again when its
 * queue is gone. The queues of triggers and all dead-letter queues hold what exists nowhere else; AWS names
 * those, so that a retained one blocks no other.
 *
 * Q1 no prefix is the beginning of another's: it ends at its first `_`, which neither the
 * name of a stack nor a hash has.
 */

import { createHash } from 'node:crypto';
import { Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/**
 * A queue's name has up to 80 characters: letters, digits, `-` and `_`
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html).
 * An agent's has up to 48.
 */
export const LONGEST_QUEUE_NAME = 80;
export const LONGEST_PREFIX = 31;
const HASH = 8;

/**
 * Names the deployment that a construct stands for: the same in every synthesis, another for each stack and
 * each construct.
 */
export function queuePrefix(scope: Construct): string {
  let stack = Stack.of(scope);
  while (stack.nestedStackParent !== undefined) stack = stack.nestedStackParent;
  const within = scope.node.path.slice(stack.node.path.length);
  const hash = createHash('sha256').update(`${stack.stackName}\n${within}`).digest('hex').slice(0, HASH);
  const room = LONGEST_PREFIX - HASH - '-_'.length;
  return `${stack.stackName.slice(0, room)}-${hash}_`;
}
