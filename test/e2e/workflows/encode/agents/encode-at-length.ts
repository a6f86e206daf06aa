import { work } from '../work.ts';
import { encodeAtLength } from '../workflow.ts';

export const handler = encodeAtLength.handler({ execute: work });
