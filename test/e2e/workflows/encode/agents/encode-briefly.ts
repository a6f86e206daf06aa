import { work } from '../work.ts';
import { encodeBriefly } from '../workflow.ts';

export const handler = encodeBriefly.handler({ execute: work });
