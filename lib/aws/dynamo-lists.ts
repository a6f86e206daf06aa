/**
 * The lists and counts of the store on DynamoDB, which only the API's function reads.
 *
 * Owns: which of the store's reads these are. Does not own: the reads (`dynamo-list.ts`, `dynamo-inbox.ts`,
 * `dynamo-survey.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Store } from '../core/ports.ts';
import { inboxPage } from './dynamo-inbox.ts';
import { type ListOptions, listPage } from './dynamo-list.ts';
import { readAsked, readSurvey } from './dynamo-survey.ts';

export type Lists = Pick<Store, 'openQuestions' | 'inbox' | 'list' | 'survey'>;

export const dynamoLists = (client: DynamoDBClient, options: ListOptions): Lists => ({
  openQuestions: (below) => readAsked(client, options, below),
  inbox: (limit, cursor) => inboxPage(client, options.table, limit, cursor),
  list: (query) => listPage(client, options, query),
  survey: (endedSince, workflows, latelySince) =>
    readSurvey(client, options, endedSince, workflows, latelySince),
});

const unlisted = async (): Promise<never> => {
  throw new Error('this function reads no lists');
};

/** The lists of a function that lists nothing. */
export const noLists: Lists = { openQuestions: unlisted, inbox: unlisted, list: unlisted, survey: unlisted };
