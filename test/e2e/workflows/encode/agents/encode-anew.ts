import { film, unfilm } from '../work.ts';
import { encodeAnew } from '../workflow.ts';

export const handler = encodeAnew.handler({ execute: film, undo: unfilm });
