// Generated from chatbot 1.0.0 (schemas 7a5b584e8da7abed) by copilot_codegen bf5b56fb, json-schema-to-typescript 16.0.0; do not edit (body d5055385c7c1264a)
/**
 * Chatbot: A chat stack: streamed answers with thinking, search tools, conversations, memory, pictures, and an MCP server with tools for files and logs.
 *
 * @module
 */

/**
 * Calculate with numbers: + - * / // % **, brackets, and functions such as sqrt, sin, log; pi and e.
 */
export interface CalculateArguments {
  /**
   * Arithmetic.
   */
  expression: string;
}

/**
 * Why there is no result.
 */
export interface CalculateFailed {
  /**
   * As asked.
   */
  expression: string;
  /**
   * What is wrong, for a person.
   */
  error: string;
}

/**
 * The result.
 */
export type CalculateResult = Calculated | CalculateFailed;

/**
 * The result.
 */
export interface Calculated {
  /**
   * As asked.
   */
  expression: string;
  /**
   * A finite number.
   */
  result: number | ComplexNumber;
  /**
   * The result's: whole numbers beyond 2**53 are told as `float`.
   */
  type: "int" | "float" | "complex";
}

/**
 * The whole answer of a turn.
 */
export interface ChatAnswer {
  /**
   * Always true.
   */
  success: true;
  /**
   * The whole answer.
   */
  response: string;
  /**
   * The model that answered, by its key in `GET /api/models`.
   */
  model: string;
  /**
   * The tone, as the request asked for it; `casual` where it asked for none.
   */
  context: string;
  /**
   * The limits for deep thinking were used.
   */
  deep_thinking: boolean;
  /**
   * What the model thought, byte for byte; empty when it told nothing.
   */
  thinking_process: string;
  /**
   * The search tools that were asked, by name, in order.
   */
  tools: string[];
  /**
   * When the turn ended.
   */
  timestamp: Timestamp;
}

/**
 * The body of `POST /chat`: JSON, or a form whose lists are JSON strings.
 */
export interface ChatPostRequest {
  /**
   * What the user says. Empty, or only spaces, is answered 400.
   */
  message: string;
  /**
   * A key of `GET /api/models`. Another name is answered by the configured model, which the answer names.
   */
  model?: string;
  /**
   * The tone: `casual`, or a word for another.
   */
  context?: string;
  /**
   * Without a `thinking_mode`: deep-think.
   */
  deep_thinking?: boolean;
  thinking_mode?: ThinkingMode;
  /**
   * Earlier messages, oldest first; the newest 30 are used, and only where the server has stored none of the conversation.
   */
  history?: HistoryItem[];
  /**
   * Memories that the model is to know; unknown ones are left out.
   *
   * @maxItems 50
   */
  memory_ids?: MemoryId[];
  /**
   * Files in the user's open folders that the model is to read.
   *
   * @maxItems 20
   */
  mcp_selected_files?: string[];
  /**
   * The language to answer in, as a code such as `vi`.
   */
  language?: string;
  /**
   * Instructions of the user, beside our own.
   */
  custom_prompt?: string;
  /**
   * Names of tools to ask before the model answers: the contract's, or `google-search`, `github`, `saucenao`, `serpapi-…` as the frontend writes them.
   *
   * @maxItems 20
   */
  tools?: string[];
  /**
   * The conversation to go on with; absent, null or empty begins one.
   */
  conversation_id?: string | null;
  /**
   * Accepted for the client's sake; not used.
   */
  agent_config?: Record<string, unknown>;
}

/**
 * The body of `POST /chat/stream`, as the JavaScript client sends it.
 */
export interface ChatStreamRequest {
  /**
   * What the user says. Empty, or only spaces, is answered 400.
   */
  message: string;
  /**
   * A key of `GET /api/models`. Another name is answered by the configured model, which the answer names.
   */
  model?: string;
  /**
   * The tone: `casual`, or a word for another.
   */
  context?: string;
  /**
   * Without a `thinking_mode`: deep-think.
   */
  deep_thinking?: boolean;
  thinking_mode?: ThinkingMode;
  /**
   * Earlier messages, oldest first; the newest 30 are used, and only where the server has stored none of the conversation.
   */
  history?: HistoryItem[];
  /**
   * Memories that the model is to know; unknown ones are left out.
   *
   * @maxItems 50
   */
  memory_ids?: MemoryId[];
  /**
   * Files in the user's open folders that the model is to read.
   *
   * @maxItems 20
   */
  mcp_selected_files?: string[];
  /**
   * The language to answer in, as a code such as `vi`.
   */
  language?: string;
  /**
   * Instructions of the user, beside our own.
   */
  custom_prompt?: string;
  /**
   * Names of tools to ask before the model answers: the contract's, or `google-search`, `github`, `saucenao`, `serpapi-…` as the frontend writes them.
   *
   * @maxItems 20
   */
  tools?: string[];
  /**
   * Accepted for the client's sake; this server has no skills.
   */
  skill?: string;
  /**
   * As `skill`. A string, not a boolean.
   */
  skill_auto_route?: "true" | "false";
  /**
   * The conversation to go on with; absent, null or empty begins one.
   */
  conversation_id?: string | null;
  /**
   * Accepted for the client's sake; not used.
   *
   * @maxItems 50
   */
  generated_images?: unknown[];
  /**
   * Pictures that the model is to see, as data URLs.
   *
   * @maxItems 8
   */
  images?: string[];
  /**
   * Overrides the configured one.
   */
  temperature?: number;
  /**
   * The same, where the model is to think deeply.
   */
  temperature_deep?: number;
  /**
   * The most tokens of an answer, where the model is to think deeply.
   */
  max_tokens_deep?: number;
  /**
   * Nucleus sampling.
   */
  top_p?: number;
}

/**
 * A piece of the answer. The pieces, in order, are the answer byte for byte. Never inside a block of thinking.
 */
export interface ChunkEvent {
  /**
   * The piece: append it to the answer so far.
   */
  content: string;
  /**
   * Counts the `chunk` events from 0 without gaps over the turn.
   */
  chunk_index: number;
  request_id?: RequestId;
}

/**
 * The event `chunk`: its name in the stream, and its data.
 */
export interface ChunkMessage {
  event: "chunk";
  data: ChunkEvent;
}

/**
 * The answer is complete. The last event of a stream that went well; made by `build_complete_event_payload`.
 */
export interface CompleteEvent {
  /**
   * The whole answer: the text of all `chunk` events, in order.
   */
  response: string;
  /**
   * The same as in `metadata`.
   */
  model: string;
  /**
   * The same as in `metadata`.
   */
  context: string;
  /**
   * The same as in `metadata`.
   */
  deep_thinking: boolean;
  /**
   * The same as in `metadata`.
   */
  thinking_mode: ThinkingMode;
  /**
   * How many `chunk` events the turn had.
   */
  total_chunks: number;
  /**
   * How much was thought in how long, for a person; empty when nothing was.
   */
  thinking_summary: string;
  /**
   * The steps of all `thinking_end` events, in order; empty when nothing was thought.
   */
  thinking_steps: string[];
  /**
   * The time of all blocks of thinking together, in milliseconds.
   */
  thinking_duration_ms: number;
  /**
   * When the turn ended.
   */
  timestamp: Timestamp;
  /**
   * From the request to this event, in seconds, rounded to three decimals.
   */
  elapsed_time: number;
  /**
   * Tokens of the answer, as the model told them; where it told none, an estimate from the text.
   */
  tokens: number;
  /**
   * The most tokens that the answer might have had, as the model was told.
   */
  max_tokens: number;
  /**
   * Names the request: the same in every event of the stream that has it.
   */
  request_id: RequestId;
  /**
   * From the request to the first `chunk`, in seconds; absent when there was none.
   */
  time_to_first_chunk?: number;
}

/**
 * The event `complete`: its name in the stream, and its data.
 */
export interface CompleteMessage {
  event: "complete";
  data: CompleteEvent;
}

/**
 * A complex number.
 */
export interface ComplexNumber {
  /**
   * The real part.
   */
  re: number;
  /**
   * The imaginary part.
   */
  im: number;
}

/**
 * A conversation without its messages.
 */
export interface Conversation {
  _id: ConversationId;
  /**
   * Whose it is, as the server's login names them.
   */
  user_id: string;
  /**
   * Its title: the user's, or one made from the first question; `New Chat` before.
   */
  title: string;
  /**
   * The model that it was last asked with, or made for; empty while that is unknown.
   */
  model: string;
  /**
   * When it was made.
   */
  created_at: Timestamp;
  /**
   * When it last changed: a message, its title, its archiving.
   */
  updated_at: Timestamp;
  /**
   * How many messages are stored.
   */
  message_count: number;
  /**
   * Tokens of all model calls, questions and answers together, as far as the models told them.
   */
  total_tokens: number;
  /**
   * The user has put it away; it is still listed.
   */
  is_archived: boolean;
  /**
   * What else the server keeps with it.
   */
  metadata: Record<string, unknown>;
}

/**
 * A conversation's id.
 */
export type ConversationId = string;

/**
 * A user's conversations.
 */
export interface ConversationList {
  /**
   * All of the user's conversations, the last changed first, archived ones too.
   */
  conversations: Conversation[];
  /**
   * How many `conversations` there are.
   */
  count: number;
}

/**
 * One message.
 */
export interface ConversationMessage {
  /**
   * Its id; the same at every reading.
   */
  _id: string;
  /**
   * Who said it.
   */
  role: "user" | "assistant";
  /**
   * Its text; what the model thought isn't part of it.
   */
  content: string;
  /**
   * When it was stored.
   */
  created_at: Timestamp;
  /**
   * What else is known of it: `interrupted` is true where the model was stopped before it had finished.
   */
  metadata: Record<string, unknown>;
}

/**
 * Whether the databases can be used.
 */
export interface DatabaseHealth {
  /**
   * All of them can.
   */
  ok: boolean;
  /**
   * When they were asked.
   */
  timestamp: Timestamp;
  /**
   * What holds conversations and their messages.
   */
  conversations: DatabaseState;
  /**
   * What holds memories and settings.
   */
  memory: DatabaseState;
}

/**
 * Which database can't be used.
 */
export type DatabaseHealthFailed = DatabaseHealth | ErrorAnswer;

/**
 * Whether something that the server needs can be used.
 */
export interface DatabaseState {
  /**
   * It was asked just now, and answered.
   */
  ok: boolean;
  /**
   * What is wrong, for a person; absent where it is ok. No path.
   */
  error?: string;
}

/**
 * What is in the folder.
 */
export interface DirectoryListing {
  /**
   * As asked.
   */
  directory: string;
  /**
   * Folders and files, listed or not.
   */
  total_items: number;
  /**
   * By name.
   */
  folders: ListedFolder[];
  /**
   * By name.
   */
  files: ListedFile[];
  /**
   * Not all are listed.
   */
  truncated?: boolean;
}

/**
 * Why there is no other answer.
 */
export interface ErrorAnswer {
  /**
   * What happened, as a sentence for a person. Never the text of an exception, a key or a path.
   */
  error: string;
  request_id?: RequestId;
}

/**
 * The turn failed, or was stopped. The last event of its stream.
 */
export interface ErrorEvent {
  /**
   * What happened, as a sentence for a person. Never the text of an exception, a key or a path.
   */
  error: string;
  request_id?: RequestId;
}

/**
 * The event `error`: its name in the stream, and its data.
 */
export interface ErrorMessage {
  event: "error";
  data: ErrorEvent;
}

/**
 * Any event of the surface.
 */
export type Event =
  | MetadataMessage
  | ThinkingStartMessage
  | ThinkingMessage
  | ThinkingEndMessage
  | ChunkMessage
  | CompleteMessage
  | ErrorMessage;

/**
 * The file's beginning.
 */
export interface FileContent {
  /**
   * As asked.
   */
  file_path: string;
  /**
   * Lines of the file, as far as it was read.
   */
  total_lines: number;
  /**
   * Lines of `content`.
   */
  lines_read: number;
  /**
   * There is more than `content`.
   */
  truncated: boolean;
  /**
   * The text; bytes that aren't UTF-8 are replaced.
   */
  content: string;
}

/**
 * The files found.
 */
export interface FilesFound {
  /**
   * As asked.
   */
  query: string;
  /**
   * As asked.
   */
  file_type: string;
  /**
   * How many were found, listed or not.
   */
  total_found: number;
  /**
   * By path.
   */
  results: FoundFile[];
  /**
   * How many are listed.
   */
  returned?: number;
  /**
   * There may be more: a bound of files, depth or time was reached.
   */
  truncated?: boolean;
}

/**
 * A file.
 */
export interface FoundFile {
  /**
   * Its name.
   */
  filename: string;
  /**
   * From its root.
   */
  path: string;
  /**
   * Its absolute path.
   */
  full_path: string;
  /**
   * In bytes.
   */
  size: number;
}

/**
 * A conversation with its messages.
 */
export interface FullConversation {
  _id: ConversationId;
  /**
   * Whose it is, as the server's login names them.
   */
  user_id: string;
  /**
   * Its title: the user's, or one made from the first question; `New Chat` before.
   */
  title: string;
  /**
   * The model that it was last asked with, or made for; empty while that is unknown.
   */
  model: string;
  /**
   * When it was made.
   */
  created_at: Timestamp;
  /**
   * When it last changed: a message, its title, its archiving.
   */
  updated_at: Timestamp;
  /**
   * How many messages are stored.
   */
  message_count: number;
  /**
   * Tokens of all model calls, questions and answers together, as far as the models told them.
   */
  total_tokens: number;
  /**
   * The user has put it away; it is still listed.
   */
  is_archived: boolean;
  /**
   * What else the server keeps with it.
   */
  metadata: Record<string, unknown>;
  /**
   * The stored messages of user and model, oldest first, without tool calls.
   */
  messages: ConversationMessage[];
}

/**
 * The pictures made.
 */
export interface GenerateImageAnswer {
  /**
   * Always true.
   */
  success: true;
  /**
   * The id of the first of `images`.
   */
  image_id: string;
  /**
   * The pictures, at least one; an endpoint may make fewer than were asked for.
   *
   * @minItems 1
   */
  images: GeneratedImage[];
  /**
   * The provider that made them, by its name in `GET /api/image-gen/providers`.
   */
  provider: string;
  /**
   * What the endpoint calls its model.
   */
  model: string;
  /**
   * The prompt, as the request said it.
   */
  prompt: string;
  /**
   * When they were made.
   */
  timestamp: Timestamp;
  /**
   * What the endpoint was told, the style's words included.
   */
  prompt_used?: string;
  /**
   * The same as `prompt`.
   */
  original_prompt?: string;
  /**
   * How long the endpoint took, in milliseconds.
   */
  latency_ms?: number;
  /**
   * The request's style; absent where it had none.
   */
  style?: string;
}

/**
 * The picture to make.
 */
export interface GenerateImageRequest {
  /**
   * What it shows. Empty is answered 400.
   */
  prompt: string;
  /**
   * Where it belongs; not used.
   */
  conversation_id?: string | null;
  /**
   * Handed to the endpoint.
   */
  quality?: string;
  /**
   * A name of `GET …/styles`.
   */
  style?: string;
  /**
   * In pixels.
   */
  width?: number;
  /**
   * In pixels.
   */
  height?: number;
  /**
   * Accepted; the endpoint knows none.
   */
  steps?: number;
  /**
   * Accepted; the endpoint knows none.
   */
  guidance?: number;
  /**
   * Accepted; the endpoint knows none.
   */
  seed?: number;
  /**
   * How many.
   */
  num_images?: number;
  /**
   * A name of `GET …/providers`; others are answered 400.
   */
  provider?: string;
  /**
   * Its model; others are answered 400.
   */
  model?: string;
  /**
   * Accepted; the prompt is used as it is.
   */
  enhance?: boolean;
}

/**
 * One picture.
 */
export interface GeneratedImage {
  /**
   * Where it can be had: an http, https or data URL.
   */
  url: string;
  /**
   * Its id, made by this server.
   */
  image_id: string;
}

/**
 * Tell what project this is.
 */
export interface GetProjectInfoArguments {}

/**
 * The project.
 */
export type GetProjectInfoResult = ProjectInfo | McpFailure;

/**
 * Search repositories on GitHub.
 */
export interface GithubSearchArguments {
  /**
   * What to look for, as a person would type it.
   */
  query: string;
}

/**
 * Answers of GitHub's repository search, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message.
 */
export type GithubSearchResult = string;

/**
 * Search the web with Google.
 */
export interface GoogleSearchArguments {
  /**
   * What to look for, as a person would type it.
   */
  query: string;
}

/**
 * Answers of Google's Custom Search JSON API, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message.
 */
export type GoogleSearchResult = string;

/**
 * The lines that were found.
 */
export interface GrepAnswer {
  /**
   * Always true.
   */
  success: true;
  /**
   * The pattern, as the request said it.
   */
  pattern: string;
  /**
   * The lines, by file and line number, at most `max_results`.
   */
  results: GrepMatch[];
  /**
   * How many `results` there are.
   */
  count: number;
  /**
   * There may be more: a bound of results, files, bytes or time was reached.
   */
  truncated?: boolean;
}

/**
 * A line that was found.
 */
export interface GrepMatch {
  /**
   * The file's absolute path.
   */
  file: string;
  /**
   * The same path, from the user's folder that it is in.
   */
  relative: string;
  /**
   * Counted from 1.
   */
  line: number;
  /**
   * The line without its line end, cut where it is long.
   */
  content: string;
}

/**
 * What to look for in the open folders.
 */
export interface GrepQuery {
  /**
   * Text, or with `regex` a regular expression (RE2's).
   */
  pattern: string;
  /**
   * `all`, or the end of file names, such as `py`.
   */
  type?: string;
  /**
   * At most so many lines.
   */
  max_results?: number;
  /**
   * A and a are two letters.
   */
  case_sensitive?: "true" | "false";
  /**
   * The pattern is a regular expression.
   */
  regex?: "true" | "false";
}

/**
 * An earlier message.
 */
export interface HistoryItem {
  /**
   * `user` and `assistant` are used; others are left out.
   */
  role: string;
  /**
   * Its text; the first 4,000 characters are used.
   */
  content: string;
}

/**
 * Whether pictures can be made.
 */
export interface ImageHealth {
  /**
   * By provider; empty when none is configured.
   */
  health: Record<string, DatabaseState>;
}

/**
 * An endpoint that makes pictures.
 */
export interface ImageProvider {
  /**
   * Its name, for a request's `provider`.
   */
  name: string;
  /**
   * What its endpoint calls its model.
   */
  model: string;
}

/**
 * Who can make pictures.
 */
export interface ImageProviders {
  /**
   * Empty when none is configured.
   */
  providers: ImageProvider[];
}

/**
 * A place where a picture was found.
 */
export interface ImageSource {
  /**
   * The page's or the work's title; may be empty.
   */
  title: string;
  /**
   * Who made the picture, as the engine tells; null when it doesn't.
   */
  author: string | null;
  /**
   * The page, http or https.
   */
  url: string;
  /**
   * The address of a small picture, http or https; null when there is none.
   */
  thumbnail: string | null;
  /**
   * How alike the engine calls them, in percent; null when it tells nothing.
   */
  similarity: number | null;
  /**
   * The engine that found it, such as `saucenao` or `google_lens`.
   */
  source_engine: string;
}

/**
 * A style for pictures.
 */
export interface ImageStyle {
  /**
   * Its name, for a request's `style`.
   */
  name: string;
  /**
   * What is added to the prompt: what pictures of this style look like.
   */
  description: string;
}

/**
 * The styles for pictures.
 */
export interface ImageStyles {
  /**
   * The styles.
   */
  styles: ImageStyle[];
}

/**
 * List a folder.
 */
export interface ListDirectoryArguments {
  /**
   * From a root, or absolute under one.
   */
  directory?: string;
}

/**
 * What is in the folder.
 */
export type ListDirectoryResult = DirectoryListing | McpFailure;

/**
 * A file.
 */
export interface ListedFile {
  /**
   * Its name.
   */
  name: string;
  /**
   * In bytes.
   */
  size: number;
  /**
   * When it was changed: ISO 8601, UTC.
   */
  modified: string;
}

/**
 * A folder.
 */
export interface ListedFolder {
  /**
   * Its name.
   */
  name: string;
  /**
   * Always null.
   */
  size: null;
  /**
   * When it was changed: ISO 8601, UTC.
   */
  modified: string;
}

/**
 * The newest lines of a log file.
 */
export interface LogExcerpt {
  /**
   * Whose log it is.
   */
  service: string;
  /**
   * Its path, from its root.
   */
  file: string;
  /**
   * Lines that fit, in the file's read part.
   */
  total_lines: number;
  /**
   * Oldest first.
   */
  entries: string[];
}

/**
 * The logs found.
 */
export interface LogsFound {
  /**
   * As asked.
   */
  service_filter: string;
  /**
   * As asked.
   */
  level_filter: string;
  /**
   * How many logs were found, listed or not.
   */
  logs_found: number;
  /**
   * By path.
   */
  data: LogExcerpt[];
  /**
   * Not all are listed, or read to the end.
   */
  truncated?: boolean;
}

/**
 * Searches are closed.
 */
export interface McpDisabledAnswer {
  /**
   * Always true.
   */
  success: true;
  status: McpStatus;
}

/**
 * Why there is no other answer, as the routes under `/api/mcp` say it.
 */
export interface McpErrorAnswer {
  /**
   * Always false.
   */
  success: false;
  /**
   * What happened, as a sentence for a person. Never the text of an exception, a key or a path.
   */
  error: string;
  request_id?: RequestId;
}

/**
 * Why there is no result.
 */
export interface McpFailure {
  /**
   * What happened, for a person.
   */
  error: string;
}

/**
 * A folder on the server.
 */
export interface McpFolderRequest {
  /**
   * Its path; absolute.
   */
  folder_path: string;
}

/**
 * Which folders a user has opened to searches.
 */
export interface McpStatus {
  /**
   * Searches in the folders are allowed.
   */
  enabled: boolean;
  /**
   * How many folders there are, enabled or not.
   */
  folders_count: number;
  /**
   * The user's folders: absolute paths on the server.
   */
  folders: string[];
  /**
   * Where an MCP server for these folders listens; null when none does.
   */
  server_url: string | null;
}

/**
 * What a user has opened now.
 */
export interface McpStatusAnswer {
  /**
   * False: nothing was to be changed.
   */
  success: boolean;
  status: McpStatus;
}

/**
 * The user's memories that were found.
 */
export interface MemoriesFound {
  /**
   * The memories with all the words, the best first.
   */
  memories: Memory[];
  /**
   * How many `memories` there are.
   */
  count?: number;
}

/**
 * Something to be remembered over conversations.
 */
export interface Memory {
  id: MemoryId;
  /**
   * A readable name, made from title and id when it was saved; it stays.
   */
  folder_name: string;
  /**
   * Its title, as the user gave it.
   */
  title: string;
  /**
   * The text to remember, as the user gave it.
   */
  content: string;
  /**
   * The user's words to find it by.
   */
  tags: string[];
  /**
   * Its pictures, as they were sent.
   */
  images: MemoryImage[];
  /**
   * When it was saved.
   */
  created_at: Timestamp;
  /**
   * When it was last changed.
   */
  updated_at: Timestamp;
}

/**
 * One memory.
 */
export interface MemoryAnswer {
  memory: Memory;
}

/**
 * It is forgotten.
 */
export interface MemoryDeleted {
  /**
   * Always true.
   */
  success: true;
  /**
   * What was done, for a person.
   */
  message: string;
}

/**
 * A memory's id.
 */
export type MemoryId = string;

/**
 * A picture that belongs to it: its address or its bytes.
 */
export type MemoryImage = MemoryImageUrl | MemoryImageBytes;

/**
 * A picture by its bytes.
 */
export interface MemoryImageBytes {
  /**
   * The file's bytes in base64.
   */
  base64: string;
}

/**
 * A picture by its address.
 */
export interface MemoryImageUrl {
  /**
   * http, https or data URL.
   */
  url: string;
}

/**
 * A user's memories.
 */
export interface MemoryList {
  /**
   * All of the user's memories, the last changed first.
   */
  memories: Memory[];
}

/**
 * What to look for in the user's memories.
 */
export interface MemoryQuery {
  /**
   * Words; empty finds all.
   */
  q?: string;
}

/**
 * It is remembered.
 */
export interface MemorySaved {
  /**
   * Always true.
   */
  success: true;
  memory: Memory;
  /**
   * What was done, for a person.
   */
  message: string;
}

/**
 * It is changed.
 */
export interface MemoryUpdated {
  /**
   * Always true.
   */
  success: true;
  memory: Memory;
}

/**
 * It was done.
 */
export interface MessageAnswer {
  /**
   * What was done, for a person.
   */
  message: string;
}

/**
 * What is going to be done: model, tone, thinking. The first event of a stream.
 */
export interface MetadataEvent {
  /**
   * The model that answers, by its key in `GET /api/models`: the request's, or the configured one where the request named none that is known.
   */
  model: string;
  /**
   * The tone, as the request asked for it; `casual` where it asked for none.
   */
  context: string;
  /**
   * The limits for deep thinking are used: the request said so, or its thinking mode does.
   */
  deep_thinking: boolean;
  /**
   * As the request asked for it: `auto` stays `auto`. Without one: `deep-think` with `deep_thinking`, otherwise `instant`.
   */
  thinking_mode: ThinkingMode;
  /**
   * The server's framework: the document's stack says `flask`, this one `starlette`.
   */
  stream_backend: string;
  /**
   * The version of this stream's rules.
   */
  stream_contract_version: "v2";
  /**
   * A search was triggered by what the message says.
   */
  web_search: boolean;
  /**
   * Always true.
   */
  streaming: true;
  /**
   * When the turn began.
   */
  timestamp: Timestamp;
  /**
   * The conversation that the turn belongs to: the request's, or the one that was made for it.
   */
  conversation_id?: ConversationId;
  request_id?: RequestId;
}

/**
 * The event `metadata`: its name in the stream, and its data.
 */
export interface MetadataMessage {
  event: "metadata";
  data: MetadataEvent;
}

/**
 * The models that are configured, by what a request calls them.
 */
export type ModelCatalogue = Record<string, ModelEntry>;

/**
 * A model that can be asked, as the server is configured.
 */
export interface ModelEntry {
  /**
   * Its name for a person.
   */
  name: string;
  /**
   * Who serves it.
   */
  provider: string;
  /**
   * What its endpoint calls it.
   */
  model_id: string;
  /**
   * Tokens of question and answer together, as configured; null when that is unknown.
   */
  context_window: number | null;
  /**
   * US dollars for a million tokens, by kind such as `input` and `output`; empty when unknown.
   */
  pricing: Record<string, number>;
  /**
   * Its answers come piece by piece.
   */
  supports_streaming: boolean;
  /**
   * All thinking modes can be asked of it.
   */
  supports_deep_thinking: boolean;
  /**
   * What it is, for a person.
   */
  description: string;
  /**
   * A picture's address or an emoji; empty when there is none.
   */
  icon: string;
  /**
   * A class for people to choose by, such as `local`.
   */
  tier: string;
  /**
   * Codes of the languages it is good at; empty when unknown.
   */
  languages: string[];
  /**
   * What it is good at; empty when unknown.
   */
  strengths: string[];
}

/**
 * The conversation to make.
 */
export interface NewConversationRequest {
  /**
   * The model that it is for.
   */
  model?: string;
  /**
   * Its title.
   */
  title?: string;
}

/**
 * A picture by its address or its bytes.
 */
export interface NewMemoryImage {
  /**
   * http, https or data URL.
   */
  url?: string;
  /**
   * The file's bytes in base64.
   */
  base64?: string;
}

/**
 * The project.
 */
export interface ProjectInfo {
  /**
   * Its name.
   */
  project_name: string;
  /**
   * Its absolute path.
   */
  base_directory: string;
  /**
   * Folders under `services`, by name.
   */
  services: string[];
  structure: ProjectStructure;
  /**
   * For a person.
   */
  description: string;
}

/**
 * Which of the usual folders are there.
 */
export interface ProjectStructure {
  /**
   * There is a folder `config`.
   */
  config: boolean;
  /**
   * There is a folder `services`.
   */
  services: boolean;
  /**
   * There is a folder `tests`.
   */
  tests: boolean;
  /**
   * There is a folder `docs`.
   */
  docs: boolean;
  /**
   * There is a folder `resources`.
   */
  resources: boolean;
  /**
   * There is a folder `local_data`.
   */
  local_data: boolean;
}

/**
 * Why no picture is made.
 */
export interface QuotaAnswer {
  /**
   * What happened, as a sentence for a person. Never the text of an exception, a key or a path.
   */
  error: string;
  /**
   * The user's pictures of the day are used up; absent for other reasons.
   */
  quota_exceeded?: true;
  request_id?: RequestId;
}

/**
 * Read a text file.
 */
export interface ReadFileContentArguments {
  /**
   * From a root, or absolute under one.
   */
  file_path: string;
  /**
   * At most so many lines.
   */
  max_lines?: number;
}

/**
 * The file's beginning.
 */
export type ReadFileContentResult = FileContent | McpFailure;

/**
 * Names the request in the server's log: the first twelve hexadecimal digits of a random UUID.
 */
export type RequestId = string;

/**
 * Why nothing could be asked.
 */
export interface ReverseImageFailed {
  /**
   * Why, for a person; the texts of the other search tools.
   */
  error: string;
}

/**
 * What was found; the lists may be empty.
 */
export interface ReverseImageFound {
  /**
   * Pages with the picture itself, the most alike first; empty when there are none.
   */
  sources: ImageSource[];
  /**
   * Pages with pictures like it, the most alike first; empty when there are none.
   */
  similar: ImageSource[];
  /**
   * The text of an engine's knowledge panel on what it shows; null when there is none.
   */
  knowledge: string | null;
  /**
   * What was found, in a sentence for a person; `no results` when that is nothing.
   */
  summary: string;
}

/**
 * Find where a picture comes from: SauceNAO, then SerpAPI's engines.
 */
export interface ReverseImageSearchArguments {
  /**
   * The picture: an http, https or data URL.
   */
  image_url: string;
}

/**
 * Where a picture comes from: what SauceNAO and SerpAPI's engines found, merged; or why none could be asked.
 */
export type ReverseImageSearchResult = ReverseImageFound | ReverseImageFailed;

/**
 * Find where a drawn picture comes from, with SauceNAO.
 */
export interface SaucenaoSearchArguments {
  /**
   * The picture: an http, https or data URL.
   */
  image_url: string;
}

/**
 * Answers of SauceNAO, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message.
 */
export type SaucenaoSearchResult = string;

/**
 * Something to remember.
 */
export interface SaveMemoryRequest {
  /**
   * Its title.
   */
  title: string;
  /**
   * What to remember.
   */
  content: string;
  /**
   * Words to find it by.
   *
   * @maxItems 50
   */
  tags?: string[];
  /**
   * Its pictures, each with one of the two.
   *
   * @maxItems 10
   */
  images?: NewMemoryImage[];
}

/**
 * Find files by their names.
 */
export interface SearchFilesArguments {
  /**
   * Part of the name; any case. Empty: all.
   */
  query: string;
  /**
   * `all`, or the end of file names, such as `py`.
   */
  file_type?: string;
  /**
   * At most so many are listed.
   */
  max_results?: number;
}

/**
 * The files found.
 */
export type SearchFilesResult = FilesFound | McpFailure;

/**
 * Read the newest lines of log files.
 */
export interface SearchLogsArguments {
  /**
   * `all`, or part of the log's path.
   */
  service?: string;
  /**
   * `all`, or a word that the lines have, such as `error`.
   */
  level?: string;
  /**
   * At most so many lines a file.
   */
  last_n_lines?: number;
}

/**
 * The logs found.
 */
export type SearchLogsResult = LogsFound | McpFailure;

/**
 * Search pictures with SerpAPI.
 */
export interface SerpapiImageSearchArguments {
  /**
   * What to look for, as a person would type it.
   */
  query: string;
}

/**
 * Answers of SerpAPI's image engine, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message.
 */
export type SerpapiImageSearchResult = string;

/**
 * Find a picture on the web with SerpAPI, engine after engine.
 */
export interface SerpapiReverseImageArguments {
  /**
   * The picture: an http, https or data URL.
   */
  image_url: string;
}

/**
 * Answers of SerpAPI's reverse image engines, the first that found something, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message.
 */
export type SerpapiReverseImageResult = string;

/**
 * Search the web with SerpAPI.
 */
export interface SerpapiWebSearchArguments {
  /**
   * What to look for, as a person would type it.
   */
  query: string;
}

/**
 * Answers of SerpAPI's web engines, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message.
 */
export type SerpapiWebSearchResult = string;

/**
 * The conversation to go on with.
 */
export interface SwitchAnswer {
  /**
   * What was done, for a person.
   */
  message: string;
  conversation: FullConversation;
}

/**
 * The model has thought: what, and for how long.
 */
export interface ThinkingEndEvent {
  /**
   * How much was thought in how long, for a person.
   */
  summary: string;
  /**
   * What was thought, cut at its paragraphs; in `multi-thinking` one text for each train of thought. Bounded: long thinking is cut here, not in `thinking`.
   */
  steps: string[];
  /**
   * The same as in the block's `thinking_start`.
   */
  category: string;
  /**
   * Since the block's `thinking_start`, in milliseconds.
   */
  duration_ms: number;
  /**
   * How often the trains of thought were merged, in `multi-thinking`; absent in all other modes.
   */
  rounds?: number;
  /**
   * How many trains of thought came to an end, in `multi-thinking`; absent in all other modes.
   */
  trajectories?: number;
  request_id?: RequestId;
}

/**
 * The event `thinking_end`: its name in the stream, and its data.
 */
export interface ThinkingEndMessage {
  event: "thinking_end";
  data: ThinkingEndEvent;
}

/**
 * A piece of what the model thinks. The pieces of one train of thought, in order, are its text byte for byte.
 */
export interface ThinkingEvent {
  /**
   * The piece: append it to what its trajectory has thought so far.
   */
  step: string;
  /**
   * Counts the `thinking` events from 0 without gaps over the turn.
   */
  step_index: number;
  /**
   * The same as in the block's `thinking_start`.
   */
  category: string;
  /**
   * It is the model's own reasoning; false: the text of a train of thought that it was asked for.
   */
  is_reasoning_chunk: boolean;
  /**
   * Names the train of thought, in `multi-thinking`; absent in all other modes.
   */
  trajectory_id?: string;
  request_id?: RequestId;
}

/**
 * The event `thinking`: its name in the stream, and its data.
 */
export interface ThinkingMessage {
  event: "thinking";
  data: ThinkingEvent;
}

/**
 * How much the model is to think before it answers. `multi-thinking`: several trains of thought side by side, then one answer. `auto`: as the message seems to need.
 */
export type ThinkingMode = "instant" | "think" | "deep-think" | "multi-thinking" | "auto";

/**
 * The model begins to think. A turn may think several times, never twice at once.
 */
export interface ThinkingStartEvent {
  /**
   * What the message seems to be about, in one word, as `detect_category` finds it.
   */
  category: string;
  /**
   * When the thinking began.
   */
  timestamp: Timestamp;
  /**
   * `multi-thinking`; absent in all other modes.
   */
  mode?: string;
  /**
   * The mode's name for a person, `4-Agents Reasoning`; absent in all other modes.
   */
  label?: string;
  request_id?: RequestId;
}

/**
 * The event `thinking_start`: its name in the stream, and its data.
 */
export interface ThinkingStartMessage {
  event: "thinking_start";
  data: ThinkingStartEvent;
}

/**
 * A point in time: UTC, ISO 8601, with `Z`.
 */
export type Timestamp = string;

/**
 * What changes; what is absent stays.
 */
export interface UpdateMemoryRequest {
  /**
   * Its title.
   */
  title?: string;
  /**
   * What to remember.
   */
  content?: string;
  /**
   * Words to find it by.
   *
   * @maxItems 50
   */
  tags?: string[];
}

/**
 * What each route takes and answers, by status.
 */
export interface Routes {
  stream_chat: {
    request: ChatStreamRequest;
    responses: {
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      404: ErrorAnswer;
      409: ErrorAnswer;
      410: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  chat: {
    request: ChatPostRequest;
    responses: {
      200: ChatAnswer;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      404: ErrorAnswer;
      409: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  list_conversations: {
    responses: {
      200: ConversationList;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  get_conversation: {
    responses: {
      200: FullConversation;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      404: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  delete_conversation: {
    responses: {
      200: MessageAnswer;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      404: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  archive_conversation: {
    responses: {
      200: MessageAnswer;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      404: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  new_conversation: {
    request: NewConversationRequest;
    responses: {
      200: Conversation;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  switch_conversation: {
    responses: {
      200: SwitchAnswer;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      404: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  grep: {
    query: GrepQuery;
    responses: {
      200: GrepAnswer;
      400: McpErrorAnswer;
      401: McpErrorAnswer;
      403: McpErrorAnswer;
      413: McpErrorAnswer;
      500: McpErrorAnswer;
      503: McpErrorAnswer;
    };
  };
  enable_mcp: {
    responses: {
      200: McpStatusAnswer;
      400: McpErrorAnswer;
      401: McpErrorAnswer;
      403: McpErrorAnswer;
      413: McpErrorAnswer;
      500: McpErrorAnswer;
      503: McpErrorAnswer;
    };
  };
  disable_mcp: {
    responses: {
      200: McpDisabledAnswer;
      400: McpErrorAnswer;
      401: McpErrorAnswer;
      403: McpErrorAnswer;
      413: McpErrorAnswer;
      500: McpErrorAnswer;
      503: McpErrorAnswer;
    };
  };
  add_folder: {
    request: McpFolderRequest;
    responses: {
      200: McpStatusAnswer;
      400: McpErrorAnswer;
      401: McpErrorAnswer;
      403: McpErrorAnswer;
      413: McpErrorAnswer;
      500: McpErrorAnswer;
      503: McpErrorAnswer;
    };
  };
  remove_folder: {
    request: McpFolderRequest;
    responses: {
      200: McpStatusAnswer;
      400: McpErrorAnswer;
      401: McpErrorAnswer;
      403: McpErrorAnswer;
      413: McpErrorAnswer;
      500: McpErrorAnswer;
      503: McpErrorAnswer;
    };
  };
  generate_image: {
    request: GenerateImageRequest;
    responses: {
      200: GenerateImageAnswer;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: QuotaAnswer;
      413: ErrorAnswer;
      429: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  image_health: {
    responses: {
      200: ImageHealth;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  image_providers: {
    responses: {
      200: ImageProviders;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  image_styles: {
    responses: {
      200: ImageStyles;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  save_memory: {
    request: SaveMemoryRequest;
    responses: {
      200: MemorySaved;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  list_memories: {
    responses: {
      200: MemoryList;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  get_memory: {
    responses: {
      200: MemoryAnswer;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      404: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  delete_memory: {
    responses: {
      200: MemoryDeleted;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      404: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  update_memory: {
    request: UpdateMemoryRequest;
    responses: {
      200: MemoryUpdated;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      404: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  search_memories: {
    query: MemoryQuery;
    responses: {
      200: MemoriesFound;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  list_models: {
    responses: {
      200: ModelCatalogue;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: ErrorAnswer;
    };
  };
  database_health: {
    responses: {
      200: DatabaseHealth;
      400: ErrorAnswer;
      401: ErrorAnswer;
      403: ErrorAnswer;
      413: ErrorAnswer;
      500: ErrorAnswer;
      503: DatabaseHealthFailed;
    };
  };
}

/**
 * What each tool takes and returns.
 */
export interface Tools {
  google_search_tool: { arguments: GoogleSearchArguments; returns: GoogleSearchResult };
  github_search_tool: { arguments: GithubSearchArguments; returns: GithubSearchResult };
  saucenao_search_tool: { arguments: SaucenaoSearchArguments; returns: SaucenaoSearchResult };
  serpapi_web_search: { arguments: SerpapiWebSearchArguments; returns: SerpapiWebSearchResult };
  serpapi_reverse_image: {
    arguments: SerpapiReverseImageArguments;
    returns: SerpapiReverseImageResult;
  };
  serpapi_image_search: {
    arguments: SerpapiImageSearchArguments;
    returns: SerpapiImageSearchResult;
  };
  reverse_image_search: {
    arguments: ReverseImageSearchArguments;
    returns: ReverseImageSearchResult;
  };
}

/**
 * What each MCP tool takes and returns.
 */
export interface McpTools {
  search_files: { arguments: SearchFilesArguments; returns: SearchFilesResult };
  read_file_content: { arguments: ReadFileContentArguments; returns: ReadFileContentResult };
  list_directory: { arguments: ListDirectoryArguments; returns: ListDirectoryResult };
  get_project_info: { arguments: GetProjectInfoArguments; returns: GetProjectInfoResult };
  search_logs: { arguments: SearchLogsArguments; returns: SearchLogsResult };
  calculate: { arguments: CalculateArguments; returns: CalculateResult };
}

/** Every event's name, with the keys that its data always has. */
export const EVENTS = {
  metadata: [
    "model",
    "context",
    "deep_thinking",
    "thinking_mode",
    "stream_backend",
    "stream_contract_version",
    "web_search",
    "streaming",
    "timestamp",
  ],
  thinking_start: ["category", "timestamp"],
  thinking: ["step", "step_index", "category", "is_reasoning_chunk"],
  thinking_end: ["summary", "steps", "category", "duration_ms"],
  chunk: ["content", "chunk_index"],
  complete: [
    "response",
    "model",
    "context",
    "deep_thinking",
    "thinking_mode",
    "total_chunks",
    "thinking_summary",
    "thinking_steps",
    "thinking_duration_ms",
    "timestamp",
    "elapsed_time",
    "tokens",
    "max_tokens",
    "request_id",
  ],
  error: ["error"],
} as const;

export type EventName = keyof typeof EVENTS;

/** An event that this module doesn't know: skip it. */
export interface UnknownEvent {
  known: false;
  name: string;
  data: unknown;
}

export type ReadResult = { known: true; event: Event } | UnknownEvent;

/**
 * The event in one message of the stream.
 *
 * The name is the message's; the data must be JSON.
 * Undeclared keys are left alone. Throws SyntaxError when the data isn't JSON, TypeError when it
 * names no event, or lacks a key that its event always has.
 */
export function readEvent(message: { readonly event: string; readonly data: string }): ReadResult {
  const data: unknown = JSON.parse(message.data);
  const keys = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  const name: unknown = message.event;
  if (typeof name !== "string") {
    throw new TypeError("A message of the stream names no event.");
  }
  if (!has(EVENTS, name)) return { known: false, name, data };
  for (const key of EVENTS[name as EventName]) {
    if (!has(keys, key)) {
      throw new TypeError(`The event ${name} lacks its key ${key}.`);
    }
  }
  return { known: true, event: { event: name, data } as Event };
}

/** As Object.hasOwn, which compilers that aim at less than ES2022 don't know. */
function has(object: object, key: string): boolean {
  return Object.prototype.hasOwnProperty.call(object, key);
}
