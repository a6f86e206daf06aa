/** Makes refusals in the form of each service. Pure. */
import { type AwsAnswer, errorAnswer } from '../gateway/aws-call.ts';
import { objectError } from '../s3/object-call.ts';
import type { Denial } from './access.ts';

const FORBIDDEN = 403;
const BAD_REQUEST = 400;

/** A refusal that the caller's SDK reads as its service's access error. */
export function deniedAnswer(service: string, { action, message }: Denial): AwsAnswer {
  if (service === 'sqs') {
    // Only SQS writes actions in lower case.
    const text = message.replaceAll(action, action.toLowerCase());
    return errorAnswer(FORBIDDEN, 'com.amazon.coral.service#AccessDeniedException', text, 'AccessDenied');
  }
  if (service === 's3') return objectError(FORBIDDEN, 'AccessDenied', message);
  const type =
    service === 'dynamodb' ? 'com.amazon.coral.service#AccessDeniedException' : 'AccessDeniedException';
  return errorAnswer(BAD_REQUEST, type, message);
}
