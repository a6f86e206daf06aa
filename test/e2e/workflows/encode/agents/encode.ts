import { work } from '../work.ts';
import { encode } from '../workflow.ts';

export const handler = encode.handler({ execute: work });
