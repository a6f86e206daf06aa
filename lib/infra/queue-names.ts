/**
 * The names of the agents' queues: `<stack>-<hash>_<agent>`.
 *
 * Owns: the prefix that all agents of one deployment share. With it a function can compute every agent's
 * queue from one address and the agents' names, and one policy line can allow all of them. Only agents'
 * queues have the prefix: their messages are hints, so the queues are deleted with the stack, and their names
 * become free. The queues of triggers and dead-letter queues contain messages that exist nowhere else; AWS
 * names them, so that a retained queue never blocks a new one.
 *
 * Q1 no prefix is the beginning of another's: it ends at its first `_`, which neither the name of a stack nor
 *    a hash has.
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
 * The prefix of the construct's deployment: the same in every synthesis, and another for each stack and each
 * construct.
 */
export function queuePrefix(scope: Construct): string {
  let stack = Stack.of(scope);
  while (stack.nestedStackParent !== undefined) stack = stack.nestedStackParent;
  const within = scope.node.path.slice(stack.node.path.length);
  const hash = createHash('sha256').update(`${stack.stackName}\n${within}`).digest('hex').slice(0, HASH);
  const room = LONGEST_PREFIX - HASH - '-_'.length;
  return `${stack.stackName.slice(0, room)}-${hash}_`;
}
